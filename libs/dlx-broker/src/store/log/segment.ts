import type { Digest } from './digest.js';
import type { DiskFile } from './options.js';
import { segmentHead, type SegmentHeader, segmentName } from './segment-header.js';

/** One file of the log, and how much of it is still needed. */
export class Segment {
  readonly number: number;
  readonly salt: number;
  readonly name: string;
  readonly version: number;
  /** Where the next batch goes. */
  end = segmentHead;
  /** Bytes of the file: more than are used, so that a small batch need not extend it. */
  allocated = segmentHead;
  /** Records of messages and entries that are still needed. */
  live = 0;
  /** Their bytes, estimated. */
  liveBytes = 0;
  /** Its records so far, for its hint; undefined when it gets none, or has it already. */
  digest: Digest | undefined;
  /** The directory has a hint of it, or may have. */
  hasHint = false;
  /** Bytes between its records that were not what was written when the log was opened. */
  damaged = 0;
  #held: WeakRef<HeldSegment> | undefined;

  constructor(
    header: SegmentHeader,
    readonly file: DiskFile,
  ) {
    this.number = header.number;
    this.salt = header.salt;
    this.version = header.version;
    this.name = segmentName(header.number);
  }

  /** For a body that may be read when the segment is deleted: its file stays open until this is not in use any more. */
  hold(): HeldSegment {
    const known = this.#held?.deref();
    if (known !== undefined) return known;
    const held = { segment: this };
    this.#held = new WeakRef(held);
    return held;
  }

  /** Undefined when it has no holder. */
  get held(): HeldSegment | undefined {
    return this.#held?.deref();
  }
}

/** A segment from which a body may be read, although no live record may be there. */
export interface HeldSegment {
  readonly segment: Segment;
}

/** The files of the log, oldest first; the last one grows. */
export class Segments {
  readonly #all = new Map<number, Segment>();
  #active: Segment | undefined;

  get count(): number {
    return this.#all.size;
  }

  /** Undefined until the first batch. */
  get active(): Segment | undefined {
    return this.#active;
  }

  get oldest(): Segment | undefined {
    for (const segment of this.#all.values()) return segment;
    return undefined;
  }

  get nextNumber(): number {
    return (this.#active?.number ?? 0) + 1;
  }

  get bytes(): number {
    let bytes = 0;
    for (const { end } of this.#all.values()) bytes += end;
    return bytes;
  }

  get liveBytes(): number {
    let bytes = 0;
    for (const segment of this.#all.values()) bytes += segment.liveBytes;
    return bytes;
  }

  get(number: number): Segment | undefined {
    return this.#all.get(number);
  }

  add(segment: Segment): void {
    this.#all.set(segment.number, segment);
    this.#active = segment;
  }

  remove(segment: Segment): void {
    this.#all.delete(segment.number);
  }

  /** Counts a record as live. */
  addRecord(number: number, bytes: number): void {
    const segment = this.#all.get(number) as Segment;
    segment.live++;
    segment.liveBytes += bytes;
  }

  /** Counts a record as no longer live. */
  removeRecord(number: number, bytes: number): void {
    const segment = this.#all.get(number);
    if (segment === undefined) return;
    segment.live--;
    segment.liveBytes -= bytes;
  }

  [Symbol.iterator](): IterableIterator<Segment> {
    return this.#all.values();
  }
}
