import { contribute } from './contribution.js';

/** Where the messages of a queue go when they die. */
export interface DeadLetterOptions {
  /** `''` is the default exchange: then `routingKey` names a queue. */
  readonly exchange: string;
  /** Without it a dead letter keeps its own key. */
  readonly routingKey?: string;
  /** `at-least-once` needs `@Quorum()`; overflow `reject-publish`, which it needs as well, is added. */
  readonly strategy?: 'at-most-once' | 'at-least-once';
}

/**
 * What the handler rejects, what expires in its queue or does not fit goes to this exchange. If nobody declares the
 * exchange it is declared as a durable topic exchange.
 */
export function DeadLetter(exchange: string, routingKey?: string): MethodDecorator;
export function DeadLetter(options: DeadLetterOptions): MethodDecorator;
export function DeadLetter(exchange: string | DeadLetterOptions, routingKey?: string): MethodDecorator {
  return contribute('DeadLetter', typeof exchange === 'object' ? { ...exchange } : { exchange, routingKey });
}
