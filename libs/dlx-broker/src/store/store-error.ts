/** What is wrong with a data directory; `docs/guide/durability.md` has a line for each. */
export type StoreErrorCode =
  /** Another process has it. */
  | 'locked'
  /** It was written by a newer version. */
  | 'newer-format'
  /** There is something in it that is not ours. */
  | 'foreign-file'
  /** It may not be read or written. */
  | 'not-allowed'
  /** It is gone, or its lock is. */
  | 'vanished'
  /** Bytes in it are not what was written. */
  | 'damaged'
  /** Bytes in it cannot be read now; they may be as they were. */
  | 'unreadable'
  /** There was no room for it. */
  | 'disk-full'
  /** The disk refused a write or a sync: nothing after that is safe. */
  | 'disk-failed';

/** A data directory cannot be used. The message says what is wrong, what is safe, and what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError';

  constructor(
    readonly code: StoreErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** Only what is damaged is gone for good. */
  get isLost(): boolean {
    return this.code === 'damaged';
  }
}
