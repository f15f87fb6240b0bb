import { type Disk, type DiskFile, processRuntime, type Runtime } from './options.js';
import { draft, formatVersion, segmentHead, type SegmentHeader, segmentName, writeHeader } from './segment-header.js';
import { Segment } from './segment.js';
import type { Space } from './space.js';
import { createAnew, writeAll } from './write-all.js';

/** The zeros of one write: a batch may have to wait for such a write. */
export const zeros = Buffer.alloc(262_144);

/** A segment without its final name, and its bytes so far. */
interface Spare {
  readonly header: SegmentHeader;
  readonly file: DiskFile;
  length: number;
}

/**
 * Creates segments. While one is being filled, the next one is allocated at its full length: a write inside a file costs
 * about half of a write that extends the file.
 */
export class NextSegment {
  #spare: Spare | undefined;
  /** A segment was prepared, or is being prepared. */
  #isPrepared = false;
  /** True if the preparation has to stop: the segment is needed now, or not at all. */
  #isStopped = false;
  #isClosed = false;
  /** The last operation. They run one after the other, because they use the same file name. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    readonly disk: Disk,
    readonly space: Space,
    /** Bytes of a segment. */
    readonly length: number,
    readonly isOver: () => boolean,
    readonly runtime: Pick<Runtime, 'salt'> = processRuntime,
  ) {}

  /** Begins to prepare the next segment, unless it did or the disk is nearly full. @param number of the segment */
  prepare(number: number): void {
    if (this.#isPrepared || this.#isClosed || !this.space.hasSpare(2 * this.length)) return;
    this.#isPrepared = true;
    this.#isStopped = false;
    // The batch that needs the segment reports a fault of the disk.
    this.#queued(() => this.#make(number).catch(() => this.#drop())).catch(() => undefined);
  }

  /** @returns the segment under its name; undefined when the disk has no room for it and the log is closed */
  take(number: number): Promise<Segment | undefined> {
    this.#isStopped = true;
    return this.#queued(async () => {
      this.#isPrepared = false;
      const spare = this.#spare ?? (await this.#open(number));
      this.#spare = undefined;
      try {
        return await this.#named(spare);
      } catch (error) {
        await spare.file.close().catch(() => undefined);
        throw error;
      }
    });
  }

  /** Deletes the prepared segment: it is not needed, or its space is. */
  discard(): Promise<void> {
    this.#isStopped = true;
    return this.#queued(() => {
      this.#isPrepared = false;
      return this.#drop();
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.discard();
  }

  #queued<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #make(number: number): Promise<void> {
    const spare = await this.#open(number);
    this.#spare = spare;
    const stretch = Math.max(segmentHead, Math.min(zeros.length, this.length));
    let chunks = [writeHeader(spare.header, this.length), zeros.subarray(segmentHead, stretch)];
    while (!this.#isStopped && spare.length < this.length) {
      const written = await spare.file.write(chunks, spare.length);
      // The disk is full: its last bytes are for batches.
      if (written < stretch) return this.#drop();
      await spare.file.sync();
      spare.length += written;
      chunks = [zeros.subarray(0, stretch)];
    }
  }

  async #open(number: number): Promise<Spare> {
    const name = segmentName(number) + draft;
    const header = { number, salt: this.runtime.salt(), version: formatVersion };
    const file = await createAnew(this.disk, name);
    return { header, file, length: 0 };
  }

  async #named(spare: Spare): Promise<Segment | undefined> {
    const { header, file, length } = spare;
    // Its header says how long it is: recovery notices when it is cut short. It was to become as long as a segment.
    if (length < this.length) {
      const bytes = writeHeader(header, length);
      const written = await writeAll(file, [bytes], 0, this.space, this.isOver);
      if (written < bytes.length) {
        await this.#remove(spare);
        return undefined;
      }
    }
    // The file gets its final name once its header is durable: a file with such a name has a valid header.
    await file.sync();
    const name = segmentName(header.number);
    await this.disk.rename(name + draft, name);
    await this.disk.syncDir();
    const segment = new Segment(header, file);
    segment.allocated = Math.max(segmentHead, length);
    return segment;
  }

  async #drop(): Promise<void> {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare !== undefined) await this.#remove(spare);
  }

  async #remove({ header, file }: Spare): Promise<void> {
    try {
      await file.close();
    } finally {
      await this.disk.unlink(segmentName(header.number) + draft);
    }
  }
}
