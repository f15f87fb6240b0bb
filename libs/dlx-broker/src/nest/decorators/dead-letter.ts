import { contribute } from './contribution.js';

/** The dead-letter exchange of a queue, the routing key of its dead letters, and the strategy. */
export interface DeadLetterOptions {
  /** `''` is the default exchange: then `routingKey` names a queue. */
  readonly exchange: string;
  /** Default: a dead letter keeps its own key. */
  readonly routingKey?: string;
  /** `at-least-once` needs `@Quorum()`; overflow `reject-publish`, which it needs as well, is added. */
  readonly strategy?: 'at-most-once' | 'at-least-once';
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
