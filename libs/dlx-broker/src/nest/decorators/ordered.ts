import type { DlxContext } from '../core/context.js';
import { contribute } from './contribution.js';

/** What is kept in order, and how much may wait in hand. */
export interface OrderedOptions<T = unknown> {
  /**
   * The key of a message: messages with the same key are handled one at a time, in the order of their queue. A number is the same key as
   * its text. `null`: no order for this message. An error, a promise or any other value fails the attempt.
   */
  readonly key: (payload: T, context: DlxContext) => string | number | null;
  /** The most messages in hand, 1 to 65535: those at work, those that wait for another attempt, those behind them. Default 1000. */
  readonly window?: number;
  /** The longest wait before another attempt: milliseconds or a string. Default `'5m'`. */
  readonly holdAtMost?: number | string;
}

/**
 * Handles the messages of a key one at a time and in order, also across retries: a message that fails waits in hand and holds up only
 * its key. After its last attempt it is parked, and the key goes on. One instance of the application works, the others stand by.
 */
export const Ordered = <T = unknown>(options: OrderedOptions<T>): MethodDecorator =>
  contribute('Ordered', {}, { given: options });
