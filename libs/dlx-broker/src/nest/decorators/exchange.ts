import type { ExchangeType } from '../../topology/index.js';
import { contribute } from './contribution.js';

/** How an exchange is declared. */
export interface ExchangeOptions {
  /** `topic` unless said otherwise. */
  readonly type?: ExchangeType;
  /** Survives a restart of the broker; true unless said otherwise. */
  readonly durable?: boolean;
  readonly autoDelete?: boolean;
  readonly internal?: boolean;
  /** Takes what this exchange cannot route. */
  readonly alternateExchange?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** False: it exists already, use it as it is. */
  readonly declare?: boolean;
}

/**
 * Declares an exchange and binds the handler's queue to it, by the handler's patterns, instead of the broker's own
 * exchange for events or requests.
 */
export const Exchange = (name: string, options: ExchangeOptions = {}): MethodDecorator =>
  contribute('Exchange', { name, ...options });
