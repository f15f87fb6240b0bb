import { meantOf } from '../options/index.js';
import type { DeathHook } from './death-hooks/death.js';
import type { Plan } from './plan.js';

/** The queues that an application consumes or declares, with its parking lots and wait queues. */
const queuesOf = ({ topology, consumers }: Pick<Plan, 'topology' | 'consumers'>): readonly string[] => [
  ...new Set([...topology.queues.map(({ name }) => name), ...consumers.map(({ queue }) => queue)]),
];

/** A method with `@OnDeadLetter`, and the warning that it is for a queue that the application does not know. */
export interface UnusedHook {
  /** Class and method. */
  readonly origin: string;
  readonly text: string;
}

/** The warnings of methods with `@OnDeadLetter` for a queue, or a pattern of queues, that the application does not know. */
export function unusedHooks(hooks: readonly DeathHook[], plan: Pick<Plan, 'topology' | 'consumers'>): UnusedHook[] {
  const named = hooks.filter(({ queue }) => queue !== undefined);
  if (named.length === 0) return [];
  const known = queuesOf(plan);
  return named
    .filter(({ matches }) => !known.some(matches))
    .map(({ origin, queue }) => {
      const what =
        typeof queue === 'string'
          ? `names queue '${queue}', which this application neither consumes nor declares${meantOf(queue, known)}`
          : `names queues by ${String(queue)}, which fits no queue that this application consumes or declares`;
      return { origin, text: `@OnDeadLetter on ${origin} ${what}` };
    });
}

/** A queue of the option `health.deadLetters.queues` that the application does not know, and the warning. */
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
