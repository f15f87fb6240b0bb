import type { StoreError } from '../store-error.js';

/**
 * When a commit counts as safe, and so what a publisher confirm promises. `fsync`: the disk has it, and neither a dead
 * process nor a power cut takes it away. `os`: the system has it; a dead process loses nothing, a power cut may lose the
 * last seconds. `none`: it will be written; a dead process may lose the last moments, too. In each of them the log is
 * whole after whatever it is made for: some last commands may be missing, never half of one.
 */
export type Durability = 'fsync' | 'os' | 'none';

/** Default of the bytes that are left free, as in RabbitMQ. */
export const defaultDiskFree = 50 * 1024 * 1024;

export interface DiskJournalOptions {
  /** Default `fsync`. */
  readonly durability?: Durability;
  /** Bytes of bodies that stay in memory, the newest; others are read back when they are delivered. Default 64 MB. */
  readonly memory?: number;
  /** Publishes are refused while fewer bytes are free on the disk. Default 50 MB, as in RabbitMQ. */
  readonly diskFree?: number;
  /** Bytes of a segment. Default 16 MB. */
  readonly segment?: number;
  /** Bytes the log may have, however few are live. Default 64 MB. */
  readonly slack?: number;
  /**
   * Beyond that, how many times as many as it would have if all that is needed were written once more: then it is, segment
   * by segment. Default 3; near 1 it may find no end, for what is needed is only estimated.
   */
  readonly factor?: number;
  /**
   * Records that are written into a batch, or looked through to free a segment, in one turn of the host. Default 2,048.
   */
  readonly recordsInTurn?: number;
  /** Milliseconds between two looks at a disk with too little room. Default one second. */
  readonly look?: number;
  /** Milliseconds since 1970, as the broker's clock has them. */
  readonly now?: () => number;
  /**
   * The process that had it died before it was closed: what waits in classic queues may have been delivered, and is
   * flagged redelivered, as in RabbitMQ.
   */
  readonly afterCrash?: boolean;
  /** Once, when the disk failed: nothing is kept from then on. */
  readonly failed?: (error: StoreError) => void;
  /** Hears of what turns out to be damaged while it is open. */
  readonly damaged?: (error: StoreError) => void;
  /** The disk has less room than it should have, or has room again. */
  readonly spaceChanged?: (isLow: boolean) => void;
}

/** Figures for those who look. */
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
  /** Since it was opened. */
  readonly commits: number;
  /** The last known, undefined when the system does not tell. */
  readonly diskFree: number | undefined;
}

/** What was found damaged when the store was opened; everything else is undamaged. */
export interface Damage {
  /** Stretches of bytes that are not what was written. */
  readonly places: readonly DamagedPlace[];
  /** Messages known to be lost, by their queue. */
  readonly queues: readonly { readonly vhost: string; readonly queue: string; readonly lost: number }[];
  /** Messages of queues whose declaration is lost, and so they are. */
  readonly misplaced: number;
}

export interface DamagedPlace {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  /** The copy of the file as it was found, if one was made. */
  readonly copy?: string;
}
