import type { ProcessOutcome } from '../tracing/index.js';

/*
 * Names of spans, attributes and events. Those that begin with `messaging.`, `error.` and `exception.` are of OpenTelemetry's semantic
 * conventions 1.44 for RabbitMQ, whose status is Development: they may change. Those that begin with `dlx.` are ours.
 */

export const names = {
  system: 'messaging.system',
  operationName: 'messaging.operation.name',
  operationType: 'messaging.operation.type',
  destination: 'messaging.destination.name',
  template: 'messaging.destination.template',
  routingKey: 'messaging.rabbitmq.destination.routing_key',
  messageId: 'messaging.message.id',
  conversationId: 'messaging.message.conversation_id',
  batchSize: 'messaging.batch.message_count',
  errorType: 'error.type',
  /** The number of the attempt, from 1. */
  attempt: 'dlx.attempt',
  /** What became of the message. */
  outcome: 'dlx.outcome',
  /** Class and method. */
  handler: 'dlx.handler',
  /** Milliseconds until the next attempt. */
  delay: 'dlx.delay_ms',
  /** Where a message went. */
  to: 'dlx.to',
  /** Of a link: `creation` or `previous attempt`. */
  link: 'dlx.link',
  /** Of a redrive: how it ended. */
  state: 'dlx.redrive.state',
  /** Of a death, in the events below. */
  reason: 'dlx.reason',
  queue: 'dlx.queue',
  exchange: 'dlx.exchange',
  routingKeys: 'dlx.routing_keys',
  count: 'dlx.count',
} as const;

export const events = {
  /** A death that the message had before this attempt: an entry of `x-death`. */
  death: 'dlx.death',
  /** The outcome of this attempt made the message a dead letter. */
  deadLettered: 'dlx.dead_lettered',
} as const;

/** The value of `dlx.outcome`: no blanks, as in other attributes. */
export const outcomeValue = (outcome: ProcessOutcome): string => outcome.replace(' ', '_');

/**
 * The name of a destination: exchange, routing key and queue, without empty parts and without a part that repeats the one before it.
 * Without any part it is the default exchange.
 */
export function destinationOf(...parts: readonly string[]): string {
  const named = parts.filter((part, index) => part !== '' && parts.indexOf(part) === index);
  return named.length === 0 ? 'amq.default' : named.join(':');
}
