import type { Broker, Journal, Queue, TopologyChange } from '../../broker/index.js';
import type { Disk } from './disk.js';
import type { Damage, DiskJournalOptions, DiskJournalStats } from './options.js';

type Entry = Parameters<Journal['enqueued']>[1];

/**
 * A journal on disk: a log of segments, written batch by batch. While one batch is on its way the next one collects, and
 * what came and went in between is never written.
 */
export class DiskJournal implements Journal {
  private constructor(
    readonly disk: Disk,
    readonly options: DiskJournalOptions,
  ) {}

  /**
   * Reads what is there, and cuts off what was not written to its end.
   * @throws StoreError when the directory cannot be used; nothing in it has changed then
   */
  static async open(disk: Disk, options: DiskJournalOptions = {}): Promise<DiskJournal> {
    return new DiskJournal(disk, options);
  }

  /** What was damaged when it was opened. */
  get damage(): Damage {
    return { places: [], queues: [], misplaced: 0 };
  }

  get stats(): DiskJournalStats {
    throw new TypeError('to come');
  }

  /** No room: what is to be kept is refused (a nack) until there is room again; settlements and moves go on. */
  get isFull(): boolean {
    return false;
  }

  /** Brings all that was found into a fresh broker that has this very journal (rules L1 to L3). Once. */
  restore(_broker: Broker): void {}

  readonly told: number = 0;
  refuses(): boolean {
    return false;
  }
  changed(_change: TopologyChange): void {}
  enqueued(_queue: Queue, _entry: Entry): void {}
  delivered(_queue: Queue, _entry: Entry): void {}
  returned(_queue: Queue, _entry: Entry): void {}
  settled(_queue: Queue, _entry: Entry): void {}
  commit(_synced: (() => void) | undefined): void {}

  /** Resolves when everything committed so far is safe. @throws StoreError when the disk failed */
  async flush(): Promise<void> {}

  /** Flushes and lets go of the files. Idempotent. */
  async close(): Promise<void> {}
}
