import type { StoreError } from '../store-error.js';
import type { Batch } from './batch.js';
import { ByteSource } from './byte-source.js';
import { encodeEntry } from './encode-inventory.js';
import { Mark } from './entry-table.js';
import { cannotBeFreed, cannotBeReadNow, shortRead } from './faults.js';
import type { Inventory } from './inventory.js';
import { recordHead, recordTypes, typeAt } from './record.js';
import { RecordReader } from './scan.js';
import { segmentHead } from './segment-header.js';
import type { Segment, Segments } from './segment.js';

/** Bytes of the record that closes a batch. */
const commitBytes = recordHead + 16;
/** No record has fewer bytes. */
const smallestRecord = recordHead + 1;
/** Bytes copied with one batch, but for the record that passes it. */
const bytesInBatch = 4_194_304;
/** How long a segment that cannot be read is left alone, in milliseconds: twice as long after each try, up to the last. */
const firstWait = 1_000;
const longestWait = 60_000;

export interface CompactionOptions {
  /** Bytes the log may always have. */
  readonly slack: number;
  /** How many times what is needed it may have beyond. */
  readonly factor: number;
  /** Bytes of a segment. */
  readonly segmentSize: number;
  /** Records that are looked at for one batch. */
  readonly recordsInTurn: number;
  /** Hears of a segment that cannot be freed, once. */
  readonly damaged: (error: StoreError) => void;
}

/** A segment in memory, of which some batches may have copied a part. */
interface Source {
  readonly segment: Segment;
  readonly bytes: Buffer;
  readonly reader: RecordReader;
}

/** Frees the oldest segments of the log: what is still needed of them is written once more, at its end. */
export class Compaction {
  #source: Source | undefined;
  #isReading = false;
  /** Bytes it takes to tell what is declared, which is needed, too. */
  declaredBytes = 0;
  /** Whether each segment begins with it. */
  isDeclaredInEach = true;
  /** A segment could not be read whole: nothing after it may go either. */
  #isStuck = false;
  /** Tries in a row that failed, and when the next one may be made. */
  #failures = 0;
  #notBefore = 0;

  constructor(
    readonly inventory: Inventory,
    readonly segments: Segments,
    readonly options: CompactionOptions,
  ) {}

  /** Whether a segment is in memory for the next batch, to be copied or to be copied on. */
  get isReady(): boolean {
    return this.#source !== undefined;
  }

  /** The oldest segment that is not written to any more, if there is too much of the log. */
  get #next(): Segment | undefined {
    const { oldest, active, bytes } = this.segments;
    if (oldest === undefined || oldest === active || oldest.live === 0) return undefined;
    const { slack, factor } = this.options;
    return bytes > Math.max(slack, factor * this.#bytesRewritten) ? oldest : undefined;
  }

  /**
   * The next batch goes into another segment when there are so many bytes in this one. At most half of a segment is its beginning:
   * else segments as short as what is declared would be begun for every batch, and would be copied for ever.
   */
  get fullAt(): number {
    return Math.max(this.options.segmentSize, 2 * this.#beginning);
  }

  /** What each segment begins with. */
  get #beginning(): number {
    return segmentHead + (this.isDeclaredInEach ? this.declaredBytes : 0);
  }

  /**
   * What the log would come to if all that is needed of it were written once more: the records, a commit for each batch
   * that copies some of them, and what the segments begin with that they go to. Of these there are as many as it takes to hold
   * the records, but never more than batches. Without them small segments would be copied for ever: they are mostly beginning,
   * however often they are written.
   */
  get #bytesRewritten(): number {
    const { declaredBytes, isDeclaredInEach, segments } = this;
    let batches = 0;
    for (const segment of segments) batches += this.#batchesOf(segment);
    const beginning = this.#beginning;
    const records = segments.liveBytes + batches * commitBytes;
    const needed = Math.min(batches, Math.ceil(records / (this.fullAt - beginning)));
    return records + (needed + 1) * beginning + (isDeclaredInEach ? 0 : declaredBytes);
  }

  /** Batches that copy something of a segment, at most. */
  #batchesOf({ live, end }: Segment): number {
    return Math.min(live, 1 + Math.floor(end / (smallestRecord * this.options.recordsInTurn)));
  }

  /**
   * Begins to read the next segment if it is time for it. One that cannot be read stays, and is tried again with a later
   * batch: what nothing is written to need not be made shorter.
   * @param ready called when it is in memory
   */
  prepare(ready: () => void): void {
    if (this.#isReading || this.#isStuck || this.#source !== undefined) return;
    if (performance.now() < this.#notBefore) return;
    const segment = this.#next;
    if (segment === undefined) return;
    this.#isReading = true;
    void this.#read(segment)
      .then(
        (bytes) => {
          this.#failures = 0;
          this.#source = { segment, bytes, reader: new RecordReader(bytes, segment.salt) };
          ready();
        },
        (error: unknown) => this.#failed(segment, error),
      )
      .finally(() => (this.#isReading = false));
  }

  #failed(segment: Segment, error: unknown): void {
    this.#notBefore = performance.now() + Math.min(longestWait, firstWait * 2 ** Math.min(this.#failures, 16));
    if (this.#failures++ === 0) this.options.damaged(cannotBeReadNow(segment.name, error));
  }

  /**
   * Copies some of what is needed of the segment in memory: the rest goes with the batches that follow. What a batch
   * has copied counts from that batch on, and the segment stays until nothing in it is needed.
   * @param limit records to be looked at
   */
  copy(batch: Batch, into: Segment, limit: number): void {
    const source = this.#source;
    if (source === undefined) return;
    const { segment, bytes, reader } = source;
    const from = new ByteSource(bytes);
    const end = batch.length + bytesInBatch;
    for (let left = limit; segment.live > 0; left--) {
      if (left === 0 || batch.length > end) return;
      const at = reader.next();
      if (at === 0) break;
      from.at = at + recordHead;
      const type = bytes[at + typeAt] as number;
      if (type === recordTypes.entry) this.#copyEntry(from, segment, batch, into);
      else if (type === recordTypes.message || type === recordTypes.copy)
        this.#copyMessage(from, at, type, segment, batch, into);
    }
    this.#source = undefined;
    if (segment.live === 0) return;
    this.#isStuck = true; // damaged since it was opened: it stays, and so do all after it
    this.options.damaged(cannotBeFreed(segment.name, segment.live));
  }

  async #read({ file, end }: Segment): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(end);
    let at = 0;
    while (at < end) {
      const read = await file.read(bytes.subarray(at), at);
      if (read === 0) break;
      at += read;
    }
    const size = at < end ? await file.size() : end;
    if (size > at) throw shortRead(end, at, size);
    return bytes.subarray(0, at);
  }

  #copyEntry(from: ByteSource, segment: Segment, batch: Batch, into: Segment): void {
    const { entries, segments } = this.inventory;
    const number = from.varint();
    const isLive = number < entries.end && (entries.marks.get(number) & Mark.Live) !== 0;
    if (!isLive || entries.segment.get(number) !== segment.number) return;
    if ((entries.marks.get(number) & Mark.Stored) === 0) return;
    if (!this.inventory.isLeaving(number)) return encodeEntry(this.inventory, batch, into, number);
    // It is about to be dropped, and the log needs it no longer.
    segments.lose(segment.number, this.inventory.bytesOf(number));
    entries.marks.set(number, entries.marks.get(number) & ~Mark.Stored);
  }

  #copyMessage(from: ByteSource, at: number, type: number, segment: Segment, batch: Batch, into: Segment): void {
    const { messages } = this.inventory;
    const number = from.varint();
    if (messages.segment.get(number) !== segment.number || messages.offset.get(number) !== at) return;
    const serial = from.varint();
    from.varint();
    const end = at + typeAt + from.bytes.readUInt32BE(at);
    const before = batch.length;
    messages.offset.set(number, batch.again(type, number, serial, from.bytes.subarray(from.at, end)));
    this.segments.lose(segment.number, messages.length.get(number));
    messages.segment.set(number, into.number);
    messages.length.set(number, batch.length - before);
    this.segments.gain(into.number, batch.length - before);
  }
}
