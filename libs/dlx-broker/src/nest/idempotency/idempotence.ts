import type { DlxContext } from '../context.js';
import type { IdempotencyStore } from './store.js';

/** What {@link Idempotent} asks for, worked out. */
export interface Idempotence {
  /** What makes two messages the same; undefined: nothing does, and it is handled. */
  readonly key: (data: unknown, context: DlxContext) => string | undefined;
  /** Milliseconds. */
  readonly ttl: number;
  readonly lease: number;
  readonly store: IdempotencyStore | undefined;
}
