/** What is wrong with a data directory; `docs/reference/data-directory.md` has a line for each. */
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

/*
 * Errors of the log. Each message says what is safe, and what to do.
 */

export const newerFormat = (file: string, version: number): StoreError =>
  new StoreError(
    'newer-format',
    `${file} has format ${version}: a newer version of dlx-broker wrote it. Nothing was changed; start that version, or use ` +
      'another directory',
  );

export const foreignFile = (file: string): StoreError =>
  new StoreError(
    'foreign-file',
    `${file} has the name of a segment of the log and is none. Nothing was changed; move it away, or restore it from a backup`,
  );

const errorCode = (cause: unknown): string | undefined => (cause as NodeJS.ErrnoException | undefined)?.code;
const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** A directory or file cannot be used; nothing was changed yet. */
export function cannotOpen(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  const text = textOf(cause);
  switch (errorCode(cause)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new StoreError(
        'vanished',
        `${text}: the data directory is not there. Nothing was written; make it, or mount its disk, and try again`,
        { cause },
      );
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new StoreError(
        'not-allowed',
        `${text}: the data directory cannot be used. Nothing was changed; let this process read and write there, and try again`,
        { cause },
      );
    case 'ENOSPC':
    case 'EDQUOT':
      return new StoreError(
        'disk-full',
        `${text}: the disk of the data directory is full. Nothing that was kept is lost; make room, and try again`,
        { cause },
      );
    default:
      return new StoreError(
        'disk-failed',
        `${text}: the data directory cannot be read. Nothing was changed; check the disk, and try again`,
        { cause },
      );
  }
}

const afterwards =
  'All that was confirmed is safe. Nothing is confirmed any more and publishes are refused; check the disk, then restart';

/** The disk failed while the log was open. A failed sync is not tried again: the system may have dropped the writes. */
export function writeFailed(cause: unknown): StoreError {
  const text = textOf(cause);
  if (cause instanceof StoreError && cause.code === 'unreadable')
    return new StoreError('disk-failed', `${text}, and it has to be written again. ${afterwards}`, { cause });
  const isGone = errorCode(cause) === 'ENOENT';
  return isGone
    ? new StoreError('vanished', `${text}: the data directory is gone. ${afterwards}`, { cause })
    : new StoreError('disk-failed', `${text}: the data directory cannot be written. ${afterwards}`, { cause });
}

/** The body is proven lost: its bytes are not what was written, or the file ends before them. */
export const bodyLost = (file: string, cause?: unknown): StoreError =>
  new StoreError(
    'damaged',
    `a message in ${file} cannot be read back as it was written, and is not delivered. Check the disk; after a restart the ` +
      'damage is counted, and the rest is served',
    { cause },
  );

/** The body cannot be read now. The message stays in its queue, and is read again later. */
export const bodyUnreadable = (file: string, cause: unknown): StoreError =>
  new StoreError('unreadable', `a message in ${file} cannot be read now: ${textOf(cause)}`, { cause });

/** A read gave fewer bytes than the file has. */
export const shortRead = (wanted: number, read: number, size: number): Error =>
  new Error(`the system gave ${read} of ${wanted} bytes, and the file has ${size}`);

/** A segment to be compacted cannot be read. It stays, and is tried again. */
export const cannotBeReadNow = (file: string, cause: unknown): StoreError =>
  new StoreError(
    'unreadable',
    `${file} cannot be read now: ${textOf(cause)}. Nothing in it is lost by that; until it can be read nothing is freed, and ` +
      'the log grows. Check the disk',
    { cause },
  );

/** @param records the number of live records that cannot be read */
export const cannotBeFreed = (file: string, records: number): StoreError =>
  new StoreError(
    'damaged',
    `${file} was damaged since it was opened: ${records} records in it cannot be read. All others are safe and served, and ` +
      'what is published is kept; but from this file on nothing is freed any more, and the log grows. Check the disk and ' +
      'restart soon: then what is lost is reported by queue, a copy of the file is kept, and the rest of it is freed',
  );

export const closed = (): StoreError => new StoreError('disk-failed', 'the data directory is closed');

/** The log was closed while a batch waited for room. */
export const noRoom = (): StoreError =>
  new StoreError('disk-full', 'the disk of the data directory is full, and it was closed before there was room');

/** A declaration in a directory that no process has open could not be changed. */
export const notEdited = (directory: string, cause: Error): StoreError =>
  cause instanceof StoreError && cause.code === 'disk-full'
    ? new StoreError('disk-full', `the disk of ${directory} is full. Nothing was changed; make room, and try again`, {
        cause,
      })
    : new StoreError(
        'disk-failed',
        `${textOf(cause.cause ?? cause)}: the data directory ${directory} cannot be written. The change is kept as a whole or not at ` +
          "all; check the disk, and look with 'data check'",
        { cause },
      );

/** Whether the disk is full, which may change; other errors are final. */
export const isFull = (cause: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(errorCode(cause) ?? '');
