import type { DeadLetterOptions, ExchangeProperties } from '../../backends/topology/index.js';
import type { RetryPolicy } from '../retry/index.js';
import { contribute } from './contribution.js';
import type { Envelope } from './envelope.js';

/** What a handler consumes. */
export interface ConsumeOptions {
  /** The name of the queue. Default: class and method. */
  readonly queue?: string;
  /** Bound to the queue; an exchange that is not declared elsewhere is declared as a durable topic exchange. */
  readonly exchange?: string | (ExchangeOptions & { readonly name: string });
  /** Binding keys; given without an exchange they bind the queue to the broker's exchange for events. */
  readonly routingKey?: string | readonly string[];
  /** `nest`: bodies are packets of Nest's RabbitMQ transport. Default: the option of the module. */
  readonly envelope?: Envelope;
  /** The name of the broker, if the application has several. */
  readonly broker?: string;
}

/**
 * Makes any method of a controller or provider a handler: it needs no transport strategy. Guards, pipes, interceptors
 * and filters apply, `@Payload()` and `@Ctx()` work, a failure dead-letters the message.
 */
export function Consume(options?: string | ConsumeOptions): MethodDecorator;
export function Consume(...given: readonly unknown[]): MethodDecorator {
  const [options] = given;
  if (given.length === 0) return contribute('Consume', {});
  return typeof options === 'string'
    ? contribute('Consume', { queue: options })
    : contribute('Consume', {}, { given: options });
}

/** How the queue of a handler is declared. */
export interface QueueOptions {
  /** Default: class and method, `OrdersController.created`. */
  readonly name?: string;
  /** Survives a restart of the broker. Default true. */
  readonly durable?: boolean;
  readonly exclusive?: boolean;
  readonly autoDelete?: boolean;
  /** False: the queue exists already and is not declared. */
  readonly declare?: boolean;
  /** `nest`: bodies are packets of Nest's RabbitMQ transport. Default: the option of the module. */
  readonly envelope?: Envelope;
  /** Further queue arguments, as AMQP names them. */
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/**
 * Names the handler's queue. Handlers that name the same queue share it; the routing key of a message selects the
 * handler.
 */
export const Queue = (queue: string | QueueOptions): MethodDecorator =>
  typeof queue === 'string' ? contribute('Queue', { name: queue }) : contribute('Queue', {}, { given: queue });

/** How an exchange is declared. */
export interface ExchangeOptions extends Omit<ExchangeProperties, 'arguments'> {
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/**
 * Declares an exchange and binds the handler's queue to it, by the handler's patterns, instead of the broker's own
 * exchange for events or requests.
 */
export const Exchange = (name: string, options: ExchangeOptions = {}): MethodDecorator =>
  contribute('Exchange', { name }, { given: options });

/**
 * Adds a binding of the handler's queue to an exchange. For a topic exchange `*` matches one word and `#` any number of words,
 * anywhere in the key.
 * @param headers arguments of the binding, for headers exchanges: `{ 'x-match': 'any', kind: 'invoice' }`
 */
export function Bind(
  exchange: string,
  routingKey?: string | readonly string[],
  headers?: Readonly<Record<string, unknown>>,
): MethodDecorator;
export function Bind(...given: readonly unknown[]): MethodDecorator {
  const [exchange, routingKey, headers] = given;
  const keys = given.length > 1 ? routingKey : '';
  return contribute('Bind', { exchange, routingKey: keys, arguments: given.length > 2 ? headers : {} });
}

/**
 * Sets the dead-letter exchange: rejected, expired and surplus messages of the handler's queue are published there. An
 * exchange that no declaration names is declared as a durable topic exchange. `false`: messages on which the handler fails may be
 * lost, and the start does not warn of that.
 */
export function DeadLetter(exchange: string, routingKey?: string): MethodDecorator;
export function DeadLetter(options: DeadLetterOptions | false): MethodDecorator;
export function DeadLetter(...given: readonly unknown[]): MethodDecorator {
  const [exchange, routingKey] = given;
  if (exchange === false) return contribute('DeadLetter(false)', {});
  if (typeof exchange === 'object') return contribute('DeadLetter', {}, { given: exchange });
  return contribute('DeadLetter', given.length > 1 ? { exchange, routingKey } : { exchange });
}

/** Sets further arguments of the handler's queue, by their AMQP names. */
export const QueueArguments = (args: Readonly<Record<string, unknown>>): MethodDecorator =>
  contribute('QueueArguments', { arguments: args });

/**
 * Retries a message whose handler fails, after a wait; after the last attempt the message is parked. The queue needs no dead-letter
 * exchange. A message whose acknowledgement is lost is handled twice, so handlers must be idempotent.
 * @param policy false: no retries, whatever the module's option `retry` says
 */
export const Retry = (policy: RetryPolicy | false): MethodDecorator => contribute('Retry', { policy });
