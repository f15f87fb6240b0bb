import type { ModulesContainer } from '@nestjs/core';
import type { Backend } from '../../backends/index.js';
import { HomeContext } from '../../platform/index.js';
import { DlxConfigurationError, optionsOf, refused, text } from '../../platform/options/index.js';
import type { Above } from '../handlers/above.js';
import type { OutcomeEvents } from '../core/outcome-events.js';
import { deathHooksOf, type DeathKind, type OnDeadLetterOptions } from '../decorators/on-dead-letter.js';
import { EventLog } from '../log/event-log.js';
import type { LoggingOptions } from '../log/logging.js';
import { refuseUnknownBroker } from '../module/broker-names.js';
import { defaultBrokerName } from '../module/options.js';
import { DeathHooks } from './death-hooks.js';
import type { DeathHook } from './death.js';

const allKinds: readonly DeathKind[] = ['parked', 'rejected', 'expired'];

/**
 * The methods with `@OnDeadLetter` for a broker.
 * @throws DlxConfigurationError for wrong options, and for a class that has an instance for each message
 */
function findHooks(modules: ModulesContainer, above: Above, broker: string): readonly DeathHook[] {
  const hooks: DeathHook[] = [];
  for (const found of above.methods) {
    const { wrapper, methodName, origin } = found;
    for (const options of above.read(deathHooksOf, found)) {
      const place = `@OnDeadLetter on ${origin}`;
      const { queue, kinds = allKinds, broker: asked = defaultBrokerName } = checked(options, place);
      refuseUnknownBroker(modules, asked, place);
      if (asked !== broker) continue;
      if (!wrapper.isDependencyTreeStatic()) {
        throw new DlxConfigurationError(
          `${place}: its class is request-scoped, and a death has no request; make the class or its dependencies singletons`,
        );
      }
      hooks.push({
        origin,
        kinds: new Set(kinds),
        matches: matching(queue),
        call: (death) => (wrapper.instance as Record<string | symbol, DeathHook['call']>)[methodName]!(death),
      });
    }
  }
  return hooks;
}

const known = ['queue', 'kinds', 'broker'] as const;

function checked(options: OnDeadLetterOptions, origin: string): OnDeadLetterOptions {
  const remedy = "write { queue: 'orders', kinds: ['parked'] }";
  const { queue, kinds, broker } = optionsOf<OnDeadLetterOptions>(options, origin, remedy, known);
  if (queue !== undefined && !(queue instanceof RegExp)) text.read(queue, `queue of ${origin}`);
  if (broker !== undefined) text.read(broker, `broker of ${origin}`);
  const isList = kinds === undefined || (Array.isArray(kinds) && kinds.length > 0);
  if (isList && (kinds ?? []).every((kind) => allKinds.includes(kind))) return options;
  throw refused(kinds, `kinds of ${origin}`, `is no list of ${allKinds.join(', ')}`);
}

/**
 * Whether a queue is meant, by its name or a regular expression.
 * @param queue undefined means every queue
 */
function matching(queue: string | RegExp | undefined): (name: string) => boolean {
  if (queue === undefined) return () => true;
  if (typeof queue === 'string') return (name) => name === queue;
  // A pattern with the flag g or y would remember where it found something.
  const pattern = new RegExp(queue.source, queue.flags.replace(/[gy]/g, ''));
  return (name) => pattern.test(name);
}

/**
 * Calls the methods with `@OnDeadLetter` from now on. If there are none, nothing is watched.
 * @throws DlxConfigurationError for wrong options
 */
export function hookDeaths(
  modules: ModulesContainer,
  above: Above,
  name: string,
  { clock }: Backend,
  events: OutcomeEvents,
  logging: LoggingOptions | undefined,
): void {
  const hooks = findHooks(modules, above, name);
  if (hooks.length > 0)
    events.callHooks(new DeathHooks(hooks, clock, new HomeContext(), new EventLog(`DlxBroker ${name}`, logging)));
}
