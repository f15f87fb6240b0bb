import type { Attributes } from '@opentelemetry/api';
import type { DeathEntry, Properties } from '../../engine/message/index.js';
import type { Move, ProcessOutcome, TracedAttempt } from '../tracing/index.js';

/*
 * All names of attributes and events. Those that begin with `messaging.`, `error.` and `exception.` are of OpenTelemetry's semantic
 * conventions 1.44 for RabbitMQ, whose status is Development: they may change. Those that begin with `dlx.` are ours. Names are written
 * as literals, because an object with computed names is slow to make. An attribute that is undefined is none.
 */

/** @param template the destination in place of a routing key that has ids */
export const ofPublish = (
  exchange: string,
  routingKey: string,
  { messageId, correlationId }: Properties,
  template: string | undefined,
): Attributes => ({
  'messaging.system': 'rabbitmq',
  'messaging.operation.name': 'publish',
  'messaging.operation.type': 'send',
  'messaging.destination.name': destinationOf(exchange, routingKey),
  'messaging.destination.template': template,
  'messaging.rabbitmq.destination.routing_key': routingKey === '' ? undefined : routingKey,
  'messaging.message.id': messageId,
  'messaging.message.conversation_id': correlationId,
});

/** Of an attempt of a handler. */
export const ofProcess = ({ message, queue, handler, attempt }: TracedAttempt): Attributes => ({
  'messaging.system': 'rabbitmq',
  'messaging.operation.name': 'process',
  'messaging.operation.type': 'process',
  'messaging.destination.name': destinationOf(message.exchange, message.routingKey, queue),
  'messaging.rabbitmq.destination.routing_key': message.routingKey === '' ? undefined : message.routingKey,
  'messaging.message.id': message.own.messageId,
  'messaging.message.conversation_id': message.own.correlationId,
  /** Class and method. */
  'dlx.handler': handler,
  /** From 1. */
  'dlx.attempt': attempt,
});

export const ofMove = ({ kind, message, queue, to, attempt, delay }: Move): Attributes => ({
  'messaging.system': 'rabbitmq',
  'messaging.operation.name': kind,
  'messaging.operation.type': 'settle',
  'messaging.destination.name': destinationOf(message.exchange, message.routingKey, queue),
  'messaging.rabbitmq.destination.routing_key': message.routingKey === '' ? undefined : message.routingKey,
  'messaging.message.id': message.own.messageId,
  'messaging.message.conversation_id': message.own.correlationId,
  'dlx.to': to,
  'dlx.attempt': attempt,
  'dlx.delay_ms': delay,
});

export const ofRedrive = (queues: readonly string[]): Attributes => ({
  'messaging.system': 'rabbitmq',
  'messaging.operation.name': 'redrive',
  'messaging.destination.name': queues.join(',').slice(0, 1024),
});

/** At the end of a redrive. */
export const ofRedriven = (redriven: number, state: string): Attributes => ({
  'messaging.batch.message_count': redriven,
  'dlx.redrive.state': state,
});

/** What became of the message of an attempt. The value has no blanks, as those of other attributes. */
export const ofOutcome = (outcome: ProcessOutcome): Attributes => ({ 'dlx.outcome': outcome.replace(' ', '_') });

export const ofError = (name: string): Attributes => ({ 'error.type': name });

/** Of a link. */
export const ofCreation: Attributes = { 'dlx.link': 'creation' };
export const ofPreviousAttempt: Attributes = { 'dlx.link': 'previous attempt' };

/** A death that the message had before this attempt: an entry of `x-death`. */
export const deathEvent = 'dlx.death';

/** Names that a client wrote into a header may be long. */
const cut = (text: string): string => text.slice(0, 255);

/** The most routing keys of a death. */
const mostKeys = 8;

export const ofDeath = ({ reason, queue, exchange, routingKeys, count }: DeathEntry): Attributes => ({
  'dlx.reason': cut(reason),
  'dlx.queue': cut(queue),
  'dlx.exchange': cut(exchange),
  'dlx.routing_keys': routingKeys.slice(0, mostKeys).map(cut),
  'dlx.count': count,
});

/** The outcome of this attempt made the message a dead letter. */
export const deadLetteredEvent = 'dlx.dead_lettered';

export const ofDeadLetter = ({ kind, queue, to, attempt }: Move): Attributes => ({
  'dlx.reason': kind === 'park' ? 'parked' : 'rejected',
  'dlx.queue': queue,
  'dlx.to': to,
  'dlx.attempt': attempt,
});

/**
 * The name of a destination: exchange, routing key and queue, without empty parts and without a part that repeats one before it.
 * Without any part it is the default exchange.
 */
export function destinationOf(exchange: string, routingKey: string, queue = ''): string {
  let name = exchange;
  if (routingKey !== '' && routingKey !== exchange) name = name === '' ? routingKey : `${name}:${routingKey}`;
  if (queue !== '' && queue !== exchange && queue !== routingKey) name = name === '' ? queue : `${name}:${queue}`;
  return name === '' ? 'amq.default' : name;
}
