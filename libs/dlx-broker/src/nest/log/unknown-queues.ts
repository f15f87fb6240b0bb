import { meantOf } from '../../platform/options/index.js';
import type { DeathHook } from '../death-hooks/death.js';
import type { Plan } from '../core/plan.js';

/** The queues that an application consumes or declares, with its parking lots and wait queues. */
const queuesOf = ({ topology, consumers }: Pick<Plan, 'topology' | 'consumers'>): readonly string[] => [
  ...new Set([...topology.queues.map(({ name }) => name), ...consumers.map(({ queue }) => queue)]),
];

/** A method with `@OnDeadLetter` that is probably never called, and the warning. */
export interface UnusedHook {
  /** Class and method. */
  readonly origin: string;
  readonly text: string;
}

/**
 * The warnings of methods with `@OnDeadLetter` for a queue, or a pattern of queues, that the application does not know, or that is a
 * parking lot, which no handler consumes.
 */
export function unusedHooks(hooks: readonly DeathHook[], plan: Pick<Plan, 'topology' | 'consumers'>): UnusedHook[] {
  const named = hooks.filter(({ queue }) => queue !== undefined);
  if (named.length === 0) return [];
  const known = queuesOf(plan);
  return named.flatMap((hook) => {
    const fitting = known.filter(hook.matches);
    const what = fitting.length === 0 ? unknownText(hook, known) : lotsText(hook, fitting, plan);
    return what === undefined ? [] : [{ origin: hook.origin, text: `@OnDeadLetter on ${hook.origin} ${what}` }];
  });
}

const unknownText = ({ queue }: DeathHook, known: readonly string[]): string =>
  typeof queue === 'string'
    ? `names queue '${queue}', which this application neither consumes nor declares${meantOf(queue, known)}`
    : `names queues by ${String(queue)}, which fits no queue that this application consumes or declares`;

/** @returns undefined unless all these queues are parking lots in which no handler fails and no message expires */
function lotsText(
  { queue, kinds }: DeathHook,
  fitting: readonly string[],
  { consumers }: Pick<Plan, 'consumers'>,
): string | undefined {
  const retries = consumers.flatMap(({ handlers }) => handlers.flatMap(({ retry }) => retry ?? []));
  const parking = retries.filter(({ parkingLot }) => fitting.includes(parkingLot));
  const hasDeaths = (name: string): boolean => {
    const own = parking.filter(({ parkingLot }) => parkingLot === name);
    const expires = kinds.has('expired') && own.some(({ retention }) => retention !== undefined);
    return own.length === 0 || expires || consumers.some((consumer) => consumer.queue === name);
  };
  if (fitting.some(hasDeaths)) return undefined;
  const failing = [...new Set(parking.map((retry) => `'${retry.queue}'`))];
  const lots = fitting.map((name) => `'${name}'`).join(', ');
  const what = fitting.length === 1 ? 'the parking lot' : 'parking lots';
  const named =
    typeof queue === 'string'
      ? `names queue ${lots}, which is ${what} of ${failing.join(', ')}`
      : `names queues by ${String(queue)}, which fits ${what} of ${failing.join(', ')} only: ${lots}`;
  return `${named}; it is called for the queue in which a message fails: write queue: ${failing.join(' or ')}`;
}

/** A queue that an option names and the application does not know, and the warning. */
export interface UnknownQueue {
  readonly queue: string;
  readonly text: string;
}

/**
 * The warnings of names in the option `health.deadLetters.queues` that the application does not know. The queue may still be on the
 * broker.
 */
export function unknownHealthQueues(
  names: readonly string[],
  plan: Pick<Plan, 'topology' | 'consumers'>,
): UnknownQueue[] {
  if (names.length === 0) return [];
  const known = queuesOf(plan);
  return [...new Set(names)]
    .filter((queue) => !known.includes(queue))
    .map((queue) => ({
      queue,
      text:
        `option 'health.deadLetters.queues' names queue '${queue}', which this application neither consumes nor declares: health ` +
        `looks at no dead letter of it unless the queue is on the broker${meantOf(queue, known)}`,
    }));
}
