/**
 * The state of a key. `claimed`: no other delivery has it. `busy`: another one is at work on it. `done`: it was
 * finished before.
 */
export type Claim = 'claimed' | 'busy' | 'done';

/** Remembers which messages were handled. What it answers may come at once or later. */
export interface IdempotencyStore {
  /**
   * Asks for the right to handle a message. Of two callers at the same time one must get `busy`.
   * @param lease milliseconds after which the claim expires, because its owner may have died
   * @param owner names this claim: no other one has the same name
   */
  claim(key: string, lease: number, owner: string): Claim | Promise<Claim>;
  /** It was handled, also if another owner has the claim by now. @param ttl milliseconds to remember that */
  done(key: string, ttl: number): void | Promise<void>;
  /**
   * It was not handled: the next owner may claim it, unless the claim expired meanwhile and belongs to another owner.
   */
  release(key: string, owner: string): void | Promise<void>;
}

/** The idempotency store failed. Its own error is the `cause`. */
export class IdempotencyStoreError extends Error {
  override readonly name = 'IdempotencyStoreError';
}
