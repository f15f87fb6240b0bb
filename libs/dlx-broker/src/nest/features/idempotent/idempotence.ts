import type { DlxContext } from '../../core/context.js';
import type { IdempotencyStore } from './store.js';

/** The checked options of {@link Idempotent}. */
export interface Idempotence {
  /** Returns the key of a message. Messages with one key are duplicates. null: the message has no key, and is handled. */
  readonly key: (data: unknown, context: DlxContext) => string | number | null;
  /** Milliseconds. */
  readonly ttl: number;
  readonly lease: number;
  readonly store: IdempotencyStore | undefined;
}
