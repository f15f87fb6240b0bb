import { emptyTable, int64, longstr, type Field, type FieldTable } from '../message/index.js';
import type { BindingDeclaration, ExchangeDeclaration, QueueDeclaration, Topology } from './topology.js';

/** How many different delays one retry policy, or one stream of dead letters, may ask for. */
export const mostWaitQueues = 64;

/**
 * What a wait queue is made of. `classic` is durable and enough for one broker; `quorum` is for a cluster: replicated,
 * and it keeps a message until the queue it returns to has taken it (rule M1).
 */
export type WaitQueueType = 'classic' | 'quorum';

/** The name of the wait queue for a delay, and of the fanout exchange in front of it. It carries the delay, for a queue cannot change its arguments. */
export const waitQueueName = (delay: number): string => `wait.${delay}`;

/**
 * One wait queue per delay, shared by all work queues. A message published to the exchange `wait.5000` with a queue's
 * name as its routing key waits five seconds; then the default exchange, as the dead-letter exchange, takes it by that
 * key to that queue. The delay is the queue's and never the message's: a long one would hold back those behind it
 * (rules B5, E3).
 * @param delays whole milliseconds, each once
 * @param origin who needs them, for error messages
 */
export function waitQueues(delays: Iterable<number>, origin?: string, type: WaitQueueType = 'classic'): Topology {
  const exchanges: ExchangeDeclaration[] = [];
  const queues: QueueDeclaration[] = [];
  const bindings: BindingDeclaration[] = [];
  const by = origin === undefined ? {} : { origin };
  for (const delay of delays) {
    const name = waitQueueName(delay);
    const durable = { name, durable: true, autoDelete: false, ...by };
    exchanges.push({ ...durable, type: 'fanout', internal: false, arguments: emptyTable });
    queues.push({ ...durable, exclusive: false, arguments: waitArguments(delay, type) });
    const target = { destination: name, destinationType: 'queue' } as const;
    bindings.push({ source: name, ...target, routingKey: '', arguments: emptyTable, ...by });
  }
  return { exchanges, queues, bindings };
}

/** No dead-letter routing key: the message's own key names the queue it returns to. */
function waitArguments(delay: number, type: WaitQueueType): FieldTable {
  const waiting = new Map<string, Field>([
    ['x-message-ttl', int64(delay)],
    ['x-dead-letter-exchange', longstr('')],
  ]);
  if (type === 'classic') return waiting;
  return waiting
    .set('x-queue-type', longstr('quorum'))
    .set('x-dead-letter-strategy', longstr('at-least-once'))
    .set('x-overflow', longstr('reject-publish')); // rule M1: without it the strategy silently falls back
}
