import type { DeadLetterOptions } from '../../backends/topology/index.js';
import { contribute } from './contribution.js';

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
