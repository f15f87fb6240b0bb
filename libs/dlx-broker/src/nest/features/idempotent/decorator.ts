import { parseDuration, refused } from '../../../platform/options/index.js';
import type { DlxContext } from '../../core/context.js';
import type { FeatureDecorator } from '../../core/handler-settings.js';
import { contribute } from '../../decorators/contribution.js';
import { readLater } from '../../module/check-options.js';
import { isKey } from '../message-key.js';
import { checkStore, type IdempotencyStore } from './store.js';

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

/** The checked options of {@link Idempotent}. */
export interface Idempotence {
  /** Returns the key of a message. Messages with one key are duplicates. null: the message has no key, and is handled. */
  readonly key: (data: unknown, context: DlxContext) => string | number | null;
  /** Milliseconds. */
  readonly ttl: number;
  readonly lease: number;
  readonly store: IdempotencyStore | undefined;
}

export const idempotentDecorator: FeatureDecorator<Idempotence> = {
  names: ['Idempotent'],
  options: { key: isKey, ttl: readLater, lease: readLater, store: readLater },
  remedy: "write { key: (order) => order.id, ttl: '24h' }, or nothing for the message id",
  read(given, origin) {
    const { key, ttl = '24h', lease = '5m', store } = given as IdempotentOptions;
    if (store !== undefined) checkStore(store, `store of ${origin}`);
    return {
      key: key ?? ((_, { properties }) => properties.messageId || null),
      ttl: someTime(ttl, `ttl of ${origin}`),
      lease: someTime(lease, `lease of ${origin}`),
      store,
    };
  },
};

/** A duration above 0, in milliseconds. @throws DlxConfigurationError */
function someTime(value: number | string, origin: string): number {
  const time = parseDuration(value, origin);
  if (time === 0) throw refused(value, origin, 'is no time at all; nothing would be remembered');
  return time;
}
