/** What is wrong with a data directory; `docs/guide/durability.md` has a line for each. */
export type StoreErrorCode =
  /** Another process has the directory open. */
  | 'locked'
  /** A newer version wrote it. */
  | 'newer-format'
  /** It has a file that is no file of a broker. */
  | 'foreign-file'
  /** The process has no right to read or write it. */
  | 'not-allowed'
  /** The directory or its lock is gone. */
  | 'vanished'
  /** Bytes in it are not what was written. */
  | 'damaged'
  /** Bytes in it cannot be read now; they may be intact. */
  | 'unreadable'
  /** The disk is full. */
  | 'disk-full'
  /** The disk refused a write or a sync: nothing after that is durable. */
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

  /** Only damage proves a loss. */
  get isLost(): boolean {
    return this.code === 'damaged';
  }
}
