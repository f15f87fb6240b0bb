import type { ModulesContainer } from '@nestjs/core';
import { DlxConfigurationError, optionsOf, refused, refuseUnknown, text } from '../../platform/options/index.js';
import { refuseUnknownBroker } from '../module/broker-names.js';
import { type DeathKind, deathHooksOf, type OnDeadLetterOptions } from '../decorators/on-dead-letter.js';
import { methodsOf } from '../core/explorer.js';
import { defaultBrokerName } from '../module/options.js';
import { matching } from '../module/queue-matching.js';
import type { DeathHook } from './death.js';

const allKinds: readonly DeathKind[] = ['parked', 'rejected', 'expired'];

/**
 * The methods with `@OnDeadLetter` for a broker.
 * @throws DlxConfigurationError for wrong options, and for a class that has an instance for each message
 */
export function findHooks(modules: ModulesContainer, broker: string): readonly DeathHook[] {
  const hooks: DeathHook[] = [];
  for (const { wrapper, method, methodName, origin: originOf } of methodsOf(modules)) {
    for (const options of deathHooksOf(method)) {
      const origin = originOf();
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
        queue,
        matches: matching(queue),
        call: (death) => (wrapper.instance as Record<string | symbol, DeathHook['call']>)[methodName]!(death),
      });
    }
  }
  return hooks;
}

function checked(options: OnDeadLetterOptions, origin: string): OnDeadLetterOptions {
  const given = optionsOf(options, origin, "write { queue: 'orders', kinds: ['parked'] }");
  refuseUnknown(given, ['queue', 'kinds', 'broker'], origin);
  const { queue, kinds, broker } = options;
  if (queue !== undefined && !(queue instanceof RegExp)) text.read(queue, `queue of ${origin}`);
  if (broker !== undefined) text.read(broker, `broker of ${origin}`);
  const isList = kinds === undefined || (Array.isArray(kinds) && kinds.length > 0);
  if (isList && (kinds ?? []).every((kind) => allKinds.includes(kind))) return options;
  throw refused(kinds, `kinds of ${origin}`, `is no list of ${allKinds.join(', ')}`);
}
