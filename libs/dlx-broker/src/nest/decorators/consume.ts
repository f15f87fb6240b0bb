import type { Envelope } from './envelope.js';
import { contribute } from './contribution.js';
import type { ExchangeOptions } from './exchange.js';

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
