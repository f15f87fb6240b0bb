import { randomBytes } from 'node:crypto';
import type { Disk, DiskFile } from './disk.js';
import { draft, formatVersion, segmentHead, segmentName, type SegmentHeader, writeHeader } from './segment-header.js';
import { Segment } from './segment.js';
import type { Space } from './space.js';
import { writeAll } from './write-all.js';

/** Written at a time: as long as that a batch may have to wait. */
export const zeros = Buffer.alloc(262_144);

/** A segment that has no name yet, and how much of it is there. */
interface Spare {
  readonly header: SegmentHeader;
  readonly file: DiskFile;
  length: number;
}

/**
 * Makes the segments. While one is filled the next one is made to its full length beside it: to write where a file
 * already is costs about half of what it costs to make it longer.
 */
export class NextSegment {
  #spare: Spare | undefined;
  /** One is made in advance, or was. */
  #isAsked = false;
  /** It is wanted as it is, or not at all. */
  #isStopped = false;
  #isClosed = false;
  /** One thing after the other: all have to do with files of the same name. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    readonly disk: Disk,
    readonly space: Space,
    /** Bytes of a segment. */
    readonly length: number,
    readonly isOver: () => boolean,
  ) {}

  /** Begins to make one in advance, unless it has, or the room is wanted for other things. @param number of it */
  prepare(number: number): void {
    // What is free was seen a moment ago.
    if (this.#isAsked || this.#isClosed || !this.space.hasSpare(2 * this.length)) return;
    this.#isAsked = true;
    this.#isStopped = false;
    // Whatever is wrong with the disk, who needs it will learn.
    this.#inTurn(() => this.#make(number).catch(() => this.#drop())).catch(() => undefined);
  }

  /** @returns the segment under its name; undefined when there is no room for it, and no commit waits any longer */
  take(number: number): Promise<Segment | undefined> {
    this.#isStopped = true;
    return this.#inTurn(async () => {
      this.#isAsked = false;
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

  /** The segment made in advance is not needed, or its space is needed. */
  giveUp(): Promise<void> {
    this.#isStopped = true;
    return this.#inTurn(() => {
      this.#isAsked = false;
      return this.#drop();
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.giveUp();
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(act);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #make(number: number): Promise<void> {
    const spare = await this.#open(number);
    this.#spare = spare;
    const stretch = Math.max(segmentHead, Math.min(zeros.length, this.length));
    let chunks = [writeHeader(spare.header), zeros.subarray(segmentHead, stretch)];
    while (!this.#isStopped && spare.length < this.length) {
      const written = await spare.file.write(chunks, spare.length);
      // Only a full disk takes less; then this is not the time.
      if (written < stretch) return this.#drop();
      await spare.file.sync();
      spare.length += written;
      chunks = [zeros.subarray(0, stretch)];
    }
  }

  async #open(number: number): Promise<Spare> {
    const name = segmentName(number) + draft;
    const header = { number, salt: randomBytes(4).readUInt32BE(), version: formatVersion };
    const file = await this.disk.open(name, 'create').catch(async (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      await this.disk.unlink(name); // one that could not be removed when it was dropped
      return this.disk.open(name, 'create');
    });
    return { header, file, length: 0 };
  }

  async #named(spare: Spare): Promise<Segment | undefined> {
    const { header, file, length } = spare;
    if (length === 0) {
      const bytes = writeHeader(header);
      const written = await writeAll(file, [bytes], 0, this.space, this.isOver);
      if (written < bytes.length) {
        await this.#remove(spare);
        return undefined;
      }
    }
    // It gets its name when its header is safe: what has the name of a segment is one.
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
