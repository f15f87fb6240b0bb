import { type FieldTable, longstr } from '../../engine/message/index.js';
import { killingArguments } from '../../backends/topology/index.js';
import type { RetryPlan } from './policy.js';
import { lotText } from './retention.js';
import { atLeastOnce, waitQueueName } from './wait-queue-names.js';

/**
 * How a failed message gets to its wait queue. `reject`: its queue dead-letters it there; the policy can have one delay only.
 * `republish`: the consumer publishes it there and then acks it; the policy can have any delays. `in-hand`: there is no wait queue; the
 * consumer keeps the message unsettled until the next attempt (`@Ordered`).
 */
export type RetryStyle = 'reject' | 'republish' | 'in-hand';

/** The arguments that {@link rejectArguments} sets. An existing queue may have other values. */
export const rejectArgumentNames: readonly string[] = [
  'x-dead-letter-exchange',
  'x-dead-letter-routing-key',
  ...atLeastOnce.map(([name]) => name),
];

/** Arguments by which messages die for other reasons than a reject. Such messages must not be retried. */
const deadly: readonly string[] = [...rejectArgumentNames, ...killingArguments];

/**
 * @param args of the work queue, as its handler asks for them
 * @param isAlone true if only one handler uses the queue
 */
export function styleOf(plan: RetryPlan, args: FieldTable, isAlone: boolean): RetryStyle {
  const fits = plan.only !== undefined && plan.deadline === undefined && isAlone;
  return fits && !deadly.some((name) => args.has(name)) ? 'reject' : 'republish';
}

/** The arguments by which a work queue dead-letters rejected messages into its only wait queue. */
export function rejectArguments({ only, queue, waitQueueType }: RetryPlan, args: FieldTable): FieldTable {
  return new Map([
    ...args,
    ['x-dead-letter-exchange', longstr(waitQueueName(only as number, waitQueueType))],
    ['x-dead-letter-routing-key', longstr(queue)],
    ...(args.get('x-queue-type')?.value === 'quorum' ? atLeastOnce : []),
  ]);
}

/** A plan as one line of the log. @param why it is republished, if it could be rejected */
export function describeRetry(plan: RetryPlan, style: RetryStyle, why?: string): string {
  const { queue, attempts, delays, parkingLot, retention, waitQueueType } = plan;
  const waits =
    delays.map((delay) => waitQueueName(delay, waitQueueType)).join(', ') || 'wait queues as they are needed';
  const how = { reject: `rejects into ${waits}`, republish: `republishes to ${waits}`, 'in-hand': 'waits in hand' }[
    style
  ];
  const reason = why === undefined ? '' : ` (${why})`;
  return `  ${queue}: ${attempts} attempts, ${how}${reason}, then ${lotText(parkingLot, retention)}`;
}
