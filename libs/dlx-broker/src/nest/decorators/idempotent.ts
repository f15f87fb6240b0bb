import type { DlxContext } from '../core/context.js';
import type { IdempotencyStore } from '../features/idempotent/store.js';
import { contribute } from './contribution.js';

/** Which messages are duplicates, and how long keys are remembered. */
export interface IdempotentOptions<T = unknown> {
  /**
   * Messages with the same key are duplicates; a number is the same key as its text. `null`: the message has no key, and is handled. Any
   * other value, also `undefined`, an empty string or NaN, fails the attempt. Default: the message id, which {@link DlxClient} gives to every
   * message.
   */
  readonly key?: (data: T, context: DlxContext) => string | number | null;
  /** How long a handled message is remembered: milliseconds or `'24h'`, which is the default. */
  readonly ttl?: number | string;
  /** How long a handler may take before another consumer may handle the message. Default `'5m'`. */
  readonly lease?: number | string;
  /** Default: the module's option `idempotencyStore`, and without it the memory of this process. */
  readonly store?: IdempotencyStore;
}

/**
 * Handles each message once, even if it is delivered several times: a duplicate is acknowledged without calling the
 * handler. After a failure the message may be handled again. For events only: a request needs an answer each time.
 */
export const Idempotent = <T = unknown>(options: IdempotentOptions<T> = {}): MethodDecorator =>
  contribute('Idempotent', {}, { given: options });
