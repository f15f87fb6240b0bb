import { randomBytes } from 'node:crypto';
import type { StoreError } from './faults.js';

/**
 * The directory of a log: files that grow, and a sync that reports when a write is durable. Errors of the system have a
 * `code`, as in Node.
 */
export interface Disk {
  /** Names of the files in it. */
  list(): Promise<readonly string[]>;
  /** `create` fails if the file exists; `write` and `read` fail if it does not. */
  open(name: string, how: 'create' | 'write' | 'read'): Promise<DiskFile>;
  unlink(name: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Makes created, renamed and unlinked files durable. */
  syncDir(): Promise<void>;
  /** Bytes that may still be written; undefined when the system does not say. Fails when the directory is gone. */
  free(): Promise<number | undefined>;
}

export interface DiskFile {
  /** Bytes, when asked. */
  size(): Promise<number>;
  /**
   * Writes the chunks one after the other.
   * @returns bytes written: fewer than asked for when the disk is full
   */
  write(chunks: readonly Uint8Array[], position: number): Promise<number>;
  /** Makes the writes durable. After an error it must not be tried again: the system may have dropped the writes. */
  sync(): Promise<void>;
  /** Shortens it. */
  truncate(size: number): Promise<void>;
  /** @returns bytes read: fewer than `into` takes only at the end of the file */
  read(into: Uint8Array, position: number): Promise<number>;
  /** The same, synchronously: for a body that is about to be delivered. */
  readSync(into: Uint8Array, position: number): number;
  /** The bytes of the file, synchronously: tells a truncated file from a short read. */
  sizeSync(): number;
  close(): Promise<void>;
}

/** What a log needs from its process. Simulations replace it. */
export interface Runtime {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Calls back in the next turn of the event loop. */
  later(act: () => void): void;
  /** A random number of 32 bits for the header of a segment. */
  salt(): number;
}

/** The event loop and the random numbers of this process. */
export const processRuntime: Runtime = {
  now: () => performance.now(),
  later: (act) => void setImmediate(act),
  salt: () => randomBytes(4).readUInt32BE(),
};

/** Resolves in the next turn of the event loop. */
export const nextTurn = (runtime: Runtime): Promise<void> => new Promise((resolve) => runtime.later(resolve));

/** The same for work that can be given up. @throws the reason of the signal, if the signal is aborted by then */
export async function nextTurnUnless(signal: AbortSignal | undefined, runtime: Runtime): Promise<void> {
  await nextTurn(runtime);
  signal?.throwIfAborted();
}

/**
 * When a commit counts as durable, and so what a publisher confirm promises. `fsync`: the disk has the commit; neither a
 * crash of the process nor a power cut loses it. `os`: the operating system has the commit; a crash of the process loses
 * nothing, a power cut may lose the last seconds. `none`: the commit will be written; a crash of the process may lose the
 * last moments, too. With each of them the log stays consistent: the last commands may be missing, never half of one.
 */
export type Durability = 'fsync' | 'os' | 'none';

/** Default of the bytes that are left free, as in RabbitMQ. */
export const defaultDiskFree = 50 * 1024 * 1024;

export interface DiskJournalOptions {
  /** Default `fsync`. */
  readonly durability?: Durability;
  /** Bytes of bodies to keep in memory: the newest. Others are read from disk when they are delivered. Default 64 MB. */
  readonly memory?: number;
  /** Publishes are refused while fewer bytes are free on the disk. Default 50 MB, as in RabbitMQ. */
  readonly diskFree?: number;
  /** Bytes of a segment. Default 16 MB. */
  readonly segment?: number;
  /** A log of up to this many bytes is not compacted. Default 64 MB. */
  readonly slack?: number;
  /**
   * A log beyond the slack is compacted, segment by segment, when it is more than this many times as long as its live records.
   * Default 3. Near 1 the compaction may not end, because the length of the live records is an estimate.
   */
  readonly factor?: number;
  /**
   * Records that are encoded into a batch, or read to compact a segment, in one turn of the event loop. Default 2,048.
   */
  readonly recordsInTurn?: number;
  /**
   * `use`: hints are read instead of their segments. `check`: all segments are read, and compared with their
   * hints. Default `use`.
   */
  readonly hints?: 'use' | 'check';
  /** A longer hint, as a part of its segment, saves too little and is not written. Default 0.5. */
  readonly longestHint?: number;
  /** A checkpoint of up to this many bytes is repeated in every segment. Default 64 KB. */
  readonly shortCheckpoint?: number;
  /**
   * False makes each waiting message an object, also in the middle of a long line. Default true. Tests compare both.
   */
  readonly rows?: boolean;
  /** Milliseconds between two checks of a disk with too little room. Default one second. */
  readonly checkInterval?: number;
  /** The broker's clock: milliseconds since 1970. */
  readonly now?: () => number;
  /**
   * True when the last process crashed. Messages in classic queues may have been delivered, and are flagged redelivered, as
   * in RabbitMQ.
   */
  readonly afterCrash?: boolean;
  /** Gives up an opening: reading the log or restoring it ends in the next turn, and fails with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Called once, when the disk failed: nothing is stored from then on. */
  readonly failed?: (error: StoreError) => void;
  /** Called for damage that is found while the log is open. */
  readonly damaged?: (error: StoreError) => void;
  /** Called when free space falls below the limit, and when it is above the limit again. */
  readonly spaceChanged?: (isLow: boolean) => void;
}

/** Figures for the status of the broker. */
export interface DiskJournalStats {
  /** Messages in durable queues, each counted once in every queue. */
  readonly entries: number;
  /** Messages stored, each counted once. */
  readonly messages: number;
  readonly segments: number;
  /** Bytes of all segments. */
  readonly bytes: number;
  /** Of these, bytes that are still needed. */
  readonly liveBytes: number;
  /** Bytes of bodies that are in memory. */
  readonly memory: number;
  /** Segments that were opened from their hints: without being read. */
  readonly hinted: number;
  /** Commits since the log was opened. */
  readonly commits: number;
  /** At the last check; undefined when the system does not say. */
  readonly diskFree: number | undefined;
}

/** The damage that was found when the store was opened. */
export interface Damage {
  /** Ranges of bytes that are not what was written. */
  readonly places: readonly DamagedPlace[];
  /** Messages known to be lost, by their queue. */
  readonly queues: readonly { readonly vhost: string; readonly queue: string; readonly lost: number }[];
  /** Messages that are lost because the declaration of their queue is lost. */
  readonly misplaced: number;
}

export interface DamagedPlace {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  /** The copy of the file as it was found, if one was made. */
  readonly copy?: string | undefined;
  /** There is no such file, and the log needs it. */
  readonly isMissing?: boolean;
  /** The file has the name of a segment, and no bytes. */
  readonly isEmpty?: boolean;
}
