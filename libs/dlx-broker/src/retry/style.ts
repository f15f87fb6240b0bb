import { longstr, type Field, type FieldTable } from '../message/index.js';
import { killingArguments } from '../topology/index.js';
import type { RetryPlan } from './policy.js';
import { waitQueueName } from './wait-queue-names.js';

/**
 * How a failed message gets to its wait queue. `reject`: its queue dead-letters it there, by the broker alone; there can be
 * but one delay. `republish`: the consumer that failed publishes it there and then acks it; any schedule.
 */
export type RetryStyle = 'reject' | 'republish';

/** What {@link rejectArguments} sets, which an existing queue may have otherwise. */
export const rejectArgumentNames: readonly string[] = [
  'x-dead-letter-exchange',
  'x-dead-letter-routing-key',
  'x-dead-letter-strategy',
  'x-overflow',
];

/** Arguments by which a queue lets messages die for other reasons than a reject: those are not to be tried again. */
const deadly: readonly string[] = [...rejectArgumentNames, ...killingArguments];

/**
 * @param args of the work queue, as its handler asks for them
 * @param isAlone whether one handler has the queue for itself
 */
export function styleOf(plan: RetryPlan, args: FieldTable, isAlone: boolean): RetryStyle {
  const fits = plan.only !== undefined && plan.deadline === undefined && isAlone;
  return fits && !deadly.some((name) => args.has(name)) ? 'reject' : 'republish';
}

/** The arguments by which a work queue dead-letters what is rejected into its one wait queue. */
export function rejectArguments({ only, queue, waitQueueType }: RetryPlan, args: FieldTable): FieldTable {
  const all = new Map<string, Field>(args);
  all.set('x-dead-letter-exchange', longstr(waitQueueName(only as number, waitQueueType)));
  all.set('x-dead-letter-routing-key', longstr(queue));
  if (args.get('x-queue-type')?.value !== 'quorum') return all;
  return all.set('x-dead-letter-strategy', longstr('at-least-once')).set('x-overflow', longstr('reject-publish')); // rule M1
}

/** A plan as people read it. */
export function describeRetry(plan: RetryPlan, style: RetryStyle): string {
  const { queue, attempts, delays, parkingLot, waitQueueType } = plan;
  const waits =
    delays.map((delay) => waitQueueName(delay, waitQueueType)).join(', ') || 'wait queues as they are needed';
  const how = style === 'reject' ? `rejects into ${waits}` : `republishes to ${waits}`;
  return `  ${queue}: ${attempts} attempts, ${how}, then ${parkingLot}`;
}
