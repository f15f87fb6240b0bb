import { parseDuration, refused } from '../../../platform/options/index.js';
import type { DlxContext } from '../../core/context.js';
import type { FeatureDecorator } from '../../core/handler-settings.js';
import { isKey } from '../../decorators/free-options.js';
import type { IdempotentOptions } from '../../decorators/idempotent.js';
import { readLater } from '../../module/check-options.js';
import { checkStore, type IdempotencyStore } from './store.js';

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
  name: 'Idempotent',
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
