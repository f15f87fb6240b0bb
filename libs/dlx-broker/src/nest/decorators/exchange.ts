import type { ExchangeProperties } from '../../backends/topology/index.js';
import { contribute } from './contribution.js';

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
