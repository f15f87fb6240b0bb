import type { Backend } from '../backend/index.js';
import { waitQueueName, type Topology } from '../topology/index.js';
import type { PlannedHandler } from './handler.js';
import type { ConsumerPlan } from './plan.js';

/** One line for the log about a handler: its queue, what is bound to it, where its failures go. */
export function describeHandler(
  { handler, queue, retry }: PlannedHandler,
  { style }: ConsumerPlan,
  topology: Topology,
): string {
  const bindings = topology.bindings.filter(
    ({ destination, destinationType }) => destinationType === 'queue' && destination === queue,
  );
  const keys = bindings.map(({ source, routingKey }) => `${source} '${routingKey}'`).join(', ');
  const { value: exchange } = handler.settings.queueArguments.get('x-dead-letter-exchange') ?? {};
  const { value: key } = handler.settings.queueArguments.get('x-dead-letter-routing-key') ?? {};
  const dead =
    exchange === undefined
      ? []
      : [`dead letters to '${String(exchange)}'${key === undefined ? '' : ` '${String(key)}'`}`];
  const waits = retry?.delays.map((delay) => waitQueueName(delay, retry.waitQueueType)).join(', ') || 'wait queues';
  const how = style === 'reject' ? 'rejected into' : 'republished to';
  const retries = retry && [`${retry.attempts} attempts, ${how} ${waits}, then '${retry.parkingLot}'`];
  return [`${handler.origin} consumes '${queue}'${keys === '' ? '' : ` (${keys})`}`, ...dead, ...(retries ?? [])].join(
    '; ',
  );
}

/**
 * What is wrong with a handler whose failures would be lost: no dead-letter exchange, by arguments or by a policy of the
 * broker, and no retry policy. The caller of a request hears of its failure; `@DeadLetter(false)` says that it may be lost.
 */
export function lossWarning(
  { handler, queue, retry }: PlannedHandler,
  topology: Topology,
  backend: Pick<Backend, 'deadLetterExchange'>,
): string | undefined {
  const { losesFailures, queue: asked } = handler.settings;
  if (retry !== undefined || losesFailures || handler.kind === 'request') return undefined;
  const declared = topology.queues.find(({ name }) => name === queue);
  if (declared?.arguments.has('x-dead-letter-exchange') === true) return undefined;
  const isUnknown = asked.declare === false && backend.deadLetterExchange === undefined;
  if (isUnknown || backend.deadLetterExchange?.(queue) !== undefined) return undefined;
  return (
    `a message on which ${handler.origin} fails is lost: queue '${queue}' has no dead-letter exchange, and the handler no retry ` +
    "policy; add @DeadLetter('exchange') or @Retry({ attempts: 3 }), or @DeadLetter(false) if it may be lost"
  );
}
