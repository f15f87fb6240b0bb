import { emptyTable, type Field, type FieldTable, int64, longstr } from '../../engine/message/index.js';
import { longestDuration } from '../../platform/options/index.js';
import {
  type BindingDeclaration,
  type ExchangeDeclaration,
  type QueueDeclaration,
  type Topology,
  waitQueueName,
  type WaitQueueType,
} from '../../backends/topology/index.js';

export { isWaitQueueName, waitQueueName, type WaitQueueType } from '../../backends/topology/index.js';

/** The largest number of wait queues, and so of different delays, in one broker. */
export const mostWaitQueues = 64;

/** The fixed set of delays on a cluster, in milliseconds. Another delay is rounded up to the next of these. */
export const clusterDelays: readonly number[] = [
  1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000, 86_400_000,
];

/** The delays of the wait queues to declare at the start of an application whose policies need the given delays. */
export const delaysAtStart = (needed: Iterable<number>, type: WaitQueueType): ReadonlySet<number> =>
  new Set(type === 'quorum' ? [...needed, ...clusterDelays] : needed);

/**
 * Milliseconds after its last use until a classic wait queue is deleted, so that wait queues that are not needed any more disappear.
 * A publish does not count as use (rule B12), so the publisher declares the queue again before half of this is over.
 */
export const waitQueueLease = 3_600_000;

/**
 * One wait queue per delay, shared by all work queues. A message published to the exchange `wait.5000` with a queue's
 * name as its routing key waits five seconds; then the default exchange, as the dead-letter exchange, takes it by that
 * key to that queue. The delay belongs to the queue and never to the message: a message with a long delay would hold
 * back those behind it (rules B5, E3). A classic wait queue is deleted, with its exchange, an hour and its delay after its last use.
 * Quorum wait queues stay with their exchanges: a publish to a deleted exchange would close its channel.
 * @param delays whole milliseconds, each once
 * @param origin where they are needed, for error messages
 * @param exchange the dead-letter exchange, which gets the message's own key; by default the default exchange
 */
export function waitQueueTopology(
  delays: Iterable<number>,
  origin?: string,
  type: WaitQueueType = 'classic',
  exchange = '',
): Topology {
  const exchanges: ExchangeDeclaration[] = [];
  const queues: QueueDeclaration[] = [];
  const bindings: BindingDeclaration[] = [];
  const by = origin === undefined ? {} : { origin };
  for (const delay of delays) {
    const name = waitQueueName(delay, type, exchange);
    const durable = { name, durable: true, ...by };
    const autoDelete = type === 'classic';
    exchanges.push({ ...durable, type: 'fanout', autoDelete, internal: false, arguments: emptyTable });
    queues.push({ ...durable, exclusive: false, autoDelete: false, arguments: waitArguments(delay, type, exchange) });
    const target = { destination: name, destinationType: 'queue' } as const;
    bindings.push({ source: name, ...target, routingKey: '', arguments: emptyTable, ...by });
  }
  return { exchanges, queues, bindings };
}

/** By these a quorum queue keeps each message until it has arrived. Without the overflow the strategy silently falls back (rule M1). */
export const atLeastOnce: readonly (readonly [string, Field])[] = [
  ['x-dead-letter-strategy', longstr('at-least-once')],
  ['x-overflow', longstr('reject-publish')],
];

/** No dead-letter routing key: the message's own key names the queue it returns to. */
function waitArguments(delay: number, type: WaitQueueType, exchange: string): FieldTable {
  const waiting = new Map<string, Field>([
    ['x-message-ttl', int64(delay)],
    ['x-dead-letter-exchange', longstr(exchange)],
  ]);
  if (type === 'classic') return waiting.set('x-expires', int64(Math.min(delay + waitQueueLease, longestDuration)));
  return new Map([...waiting, ['x-queue-type', longstr('quorum')], ...atLeastOnce]);
}
