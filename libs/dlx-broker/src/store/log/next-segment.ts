import { randomBytes } from 'node:crypto';
import type { Disk, DiskFile } from './disk.js';
import { draft, formatVersion, segmentHead, segmentName, type SegmentHeader, writeHeader } from './segment-header.js';
import { Segment } from './segment.js';
import type { Space } from './space.js';
import { writeAll } from './write-all.js';

/** Written at a time: as long as that a batch may have to wait. */
const zeros = Buffer.alloc(262_144);

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
  #making: Promise<void> | undefined;
  /** It is wanted as it is, or not at all. */
  #isStopped = false;

  constructor(
    readonly disk: Disk,
    readonly space: Space,
    /** Bytes of a segment. */
    readonly length: number,
    readonly isOver: () => boolean,
  ) {}

  /** Begins to make one in advance, unless it has. @param number of it */
  prepare(number: number): void {
    if (this.#making !== undefined || this.space.isLow) return;
    this.#isStopped = false;
    // Whatever is wrong with the disk, who needs it will learn.
    this.#making = this.#make(number)
      .catch(() => this.#drop())
      .catch(() => undefined);
  }

  /** @returns the segment under its name; undefined when there is no room for it, and nobody waits any longer */
  async take(number: number): Promise<Segment | undefined> {
    await this.#stop();
    const { header, file, length } = this.#spare ?? (await this.#open(number));
    const isWhole = length > 0 || (await this.#writeHeader(header, file));
    this.#spare = undefined;
    if (!isWhole) return undefined;
    // It gets its name when its header is safe: what has the name of a segment is one.
    await file.sync();
    const name = segmentName(number);
    await this.disk.rename(name + draft, name);
    await this.disk.syncDir();
    const segment = new Segment(header, file);
    segment.allocated = Math.max(segmentHead, length);
    return segment;
  }

  /** Nobody wants the one that was made in advance. */
  async close(): Promise<void> {
    await this.#stop();
    await this.#drop();
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
    const header = { number, salt: randomBytes(4).readUInt32BE(), version: formatVersion };
    return { header, file: await this.disk.open(segmentName(number) + draft, 'create'), length: 0 };
  }

  async #writeHeader(header: SegmentHeader, file: DiskFile): Promise<boolean> {
    const bytes = writeHeader(header);
    return (await writeAll(file, [bytes], 0, this.space, this.isOver)) === bytes.length;
  }

  async #stop(): Promise<void> {
    this.#isStopped = true;
    await this.#making;
    this.#making = undefined;
  }

  async #drop(): Promise<void> {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare === undefined) return;
    await spare.file.close();
    await this.disk.unlink(segmentName(spare.header.number) + draft);
  }
}
