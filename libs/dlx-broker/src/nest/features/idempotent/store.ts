import { checkMethods } from '../../../platform/options/index.js';

/** Remembers which messages were handled. Each method may return its result at once or as a promise. */
export interface IdempotencyStore {
  /**
   * Claims the right to handle a message. Of two callers at the same time one must get `busy`.
   * @param lease milliseconds after which the claim expires, because its owner may have died
   * @param owner names this claim: no other one has the same name
   * @returns `claimed`: the caller has the key now. `busy`: another delivery has it. `done`: a message with this key was handled.
   */
  claim(key: string, lease: number, owner: string): 'claimed' | 'busy' | 'done' | Promise<'claimed' | 'busy' | 'done'>;
  /** The message was handled, even if another owner has the claim now. @param ttl milliseconds to remember the key */
  done(key: string, ttl: number): void | Promise<void>;
  /**
   * The message was not handled: releases the claim, unless it expired and belongs to another owner.
   */
  release(key: string, owner: string): void | Promise<void>;
}

/** The state of a key. */
export type Claim = Awaited<ReturnType<IdempotencyStore['claim']>>;

/** The idempotency store failed. Its own error is the `cause`. */
export class IdempotencyStoreError extends Error {
  override readonly name = 'IdempotencyStoreError';
}

/** @throws DlxConfigurationError for a value that is no idempotency store */
export const checkStore = (store: unknown, origin: string): void =>
  checkMethods(store, origin, 'IdempotencyStore', ['claim', 'done', 'release']);
