import { emptyTable, int64, longstr, type Field, type FieldTable } from '../message/index.js';
import { longestDuration } from '../options/index.js';
import {
  type BindingDeclaration,
  type ExchangeDeclaration,
  type QueueDeclaration,
  type Topology,
} from '../topology/index.js';

/** How many different delays there may be in one broker. */
export const mostWaitQueues = 64;

/**
 * What a wait queue is made of. `classic` is durable and enough for one broker; `quorum` is for a cluster: replicated,
 * and it keeps a message until the queue it returns to has taken it (rule M1).
 */
export type WaitQueueType = 'classic' | 'quorum';

/**
 * Milliseconds a wait queue outlives its last use by: a queue that no deployment needs any more drains and disappears.
 * A publish does not count as use (rule B12), so the publisher declares the queue again before half of this is over.
 */
export const waitQueueLease = 3_600_000;

/**
 * The name of the wait queue for a delay, and of the fanout exchange in front of it. It carries all that a queue cannot
 * change: the delay, the type if it is not the usual one, and the exchange it leads to if it is not the default one.
 */
export function waitQueueName(delay: number, type: WaitQueueType = 'classic', exchange = ''): string {
  const name = type === 'classic' ? `wait.${delay}` : `wait.${type}.${delay}`;
  return exchange === '' ? name : `${exchange}.${name}`;
}

/** Whether a queue of that name is a wait queue, or would be taken for one. */
export const isWaitQueueName = (name: string): boolean => /^wait\.(?:quorum\.)?\d+$/.test(name);

/**
 * One wait queue per delay, shared by all work queues. A message published to the exchange `wait.5000` with a queue's
 * name as its routing key waits five seconds; then the default exchange, as the dead-letter exchange, takes it by that
 * key to that queue. The delay is the queue's and never the message's: a long one would hold back those behind it
 * (rules B5, E3). When it was not used for an hour longer than its delay it goes, and with it its exchange.
 * @param delays whole milliseconds, each once
 * @param origin who needs them, for error messages
 * @param exchange where they lead to instead, by the message's own key
 */
export function waitQueues(
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
    exchanges.push({ ...durable, type: 'fanout', autoDelete: true, internal: false, arguments: emptyTable });
    queues.push({ ...durable, exclusive: false, autoDelete: false, arguments: waitArguments(delay, type, exchange) });
    const target = { destination: name, destinationType: 'queue' } as const;
    bindings.push({ source: name, ...target, routingKey: '', arguments: emptyTable, ...by });
  }
  return { exchanges, queues, bindings };
}

/** No dead-letter routing key: the message's own key names the queue it returns to. */
function waitArguments(delay: number, type: WaitQueueType, exchange: string): FieldTable {
  const waiting = new Map<string, Field>([
    ['x-message-ttl', int64(delay)],
    ['x-dead-letter-exchange', longstr(exchange)],
    ['x-expires', int64(Math.min(delay + waitQueueLease, longestDuration))],
  ]);
  if (type === 'classic') return waiting;
  return waiting
    .set('x-queue-type', longstr('quorum'))
    .set('x-dead-letter-strategy', longstr('at-least-once'))
    .set('x-overflow', longstr('reject-publish')); // rule M1: without it the strategy silently falls back
}
