import type { Envelope } from './envelope.js';
import { contribute } from './contribution.js';

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
