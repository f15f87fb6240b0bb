import type { Batch } from './batch.js';
import { ByteSource } from './bytes.js';
import { NumberList } from './columns.js';
import { encodeEntry } from './encode-inventory.js';
import { cannotBeFreed, cannotBeReadNow, shortRead, type StoreError } from './faults.js';
import type { Inventory } from './inventory.js';
import { nextTurn, type Runtime } from './options.js';
import { RecordReader } from './scan.js';
import { recordHead, recordTypes, segmentHead, typeAt } from './segment-header.js';
import type { Segment, Segments } from './segment.js';
import { Flag } from './tables.js';

/** Bytes of the record that closes a batch. */
const commitBytes = recordHead + 16;
/** The smallest record, in bytes. */
const minRecord = recordHead + 1;
/** Bytes copied with one batch, apart from the record that exceeds them. */
const bytesInBatch = 4_194_304;
/** The pause before an unreadable segment is read again, in milliseconds. It doubles up to the maximum. */
const firstWait = 1_000;
const maxWait = 60_000;

export interface CompactionOptions {
  /** A log of up to this many bytes is not compacted. */
  readonly slack: number;
  /** A log beyond the slack may be this many times as long as its live records. */
  readonly factor: number;
  /** Bytes of a segment. */
  readonly segmentSize: number;
  /** Records that are read for one batch. */
  readonly recordsInTurn: number;
  /** Called once for a segment that cannot be freed. */
  readonly damaged: (error: StoreError) => void;
  readonly runtime: Runtime;
}

/** A segment in memory. Earlier batches may have copied a part of it. */
interface Source {
  readonly segment: Segment;
  readonly bytes: Buffer;
  /** Where the records begin that no batch has copied or skipped yet. */
  readonly records: NumberList;
  /** Where the last record of each entry begins; undefined if a record is damaged, which may be the last one of an entry. */
  readonly last: ReadonlyMap<number, number> | undefined;
}

/** Frees the oldest segments of the log: their live records are written again at the end of the log. */
export class Compaction {
  #source: Source | undefined;
  #isReading = false;
  /** Bytes of the last checkpoint. */
  declaredBytes = 0;
  /** Whether each segment begins with a checkpoint. */
  isDeclaredInEach = true;
  /** A segment is damaged: it stays, and so do all segments after it. */
  #isStuck = false;
  /** Failed reads in a row, and the time from which the next one is allowed. */
  #failures = 0;
  #notBefore = 0;

  constructor(
    readonly inventory: Inventory,
    readonly segments: Segments,
    readonly options: CompactionOptions,
    /** Called for a damaged segment: the next start has to read the segment itself. */
    readonly removeHint: (segment: Segment) => void = () => undefined,
  ) {}

  /** Whether a segment is in memory, so that the next batch can copy records of it. */
  get isReady(): boolean {
    return this.#source !== undefined;
  }

  /** The oldest segment, if it has live records, is full, and the log is too long. */
  get #next(): Segment | undefined {
    const { oldest, active, bytes } = this.segments;
    if (oldest === undefined || oldest === active || oldest.live === 0) return undefined;
    const { slack, factor } = this.options;
    return bytes > Math.max(slack, factor * this.#bytesRewritten) ? oldest : undefined;
  }

  /**
   * The bytes from which on a segment is full. At most half of a segment is its header and checkpoint: otherwise each batch would begin
   * a segment as short as a checkpoint, and compaction would never end.
   */
  get fullAt(): number {
    return Math.max(this.options.segmentSize, 2 * this.#beginning);
  }

  /** Bytes of the header and checkpoint of each segment. */
  get #beginning(): number {
    return segmentHead + (this.isDeclaredInEach ? this.declaredBytes : 0);
  }

  /**
   * The length of the log if all live records were written again: the records, a commit for each batch that copies some of
   * them, and the header and checkpoint of each new segment. The number of new segments is estimated from the bytes; it is never
   * above the number of batches. Without the headers, a log of small segments would be compacted for ever: such segments
   * are mostly header and checkpoint.
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

  /** The largest number of batches that copy records of a segment. */
  #batchesOf({ live, end }: Segment): number {
    return Math.min(live, 1 + Math.floor(end / (minRecord * this.options.recordsInTurn)));
  }

  /**
   * Begins to read the next segment if the log is too long. An unreadable segment is tried again after a later batch: a log
   * without new batches does not grow.
   * @param ready called when the segment is in memory
   */
  prepare(ready: () => void): void {
    if (this.#isReading || this.#isStuck || this.#source !== undefined) return;
    if (this.options.runtime.now() < this.#notBefore) return;
    const segment = this.#next;
    if (segment === undefined) return;
    this.#isReading = true;
    void this.#read(segment)
      .then((bytes) => this.#look(segment, bytes))
      .then(
        (source) => {
          this.#failures = 0;
          this.#source = source;
          ready();
        },
        (error: unknown) => this.#failed(segment, error),
      )
      .finally(() => (this.#isReading = false));
  }

  #failed(segment: Segment, error: unknown): void {
    this.#notBefore = this.options.runtime.now() + Math.min(maxWait, firstWait * 2 ** Math.min(this.#failures, 16));
    if (this.#failures++ === 0) this.options.damaged(cannotBeReadNow(segment.name, error));
  }

  /**
   * Copies some of the live records of the segment in memory; later batches copy the rest. A copy counts as soon as its
   * batch is durable. The segment stays until it has no live record.
   * @param limit the most records to check
   */
  copy(batch: Batch, into: Segment, limit: number): void {
    const source = this.#source;
    if (source === undefined) return;
    const { segment, bytes, records } = source;
    const from = new ByteSource(bytes);
    const end = batch.length + bytesInBatch;
    for (let left = limit; segment.live > 0; left--) {
      if (left === 0 || batch.length > end) return;
      if (records.length === 0) break;
      const at = records.at(0);
      records.drop(1);
      from.at = at + recordHead;
      const type = bytes[at + typeAt] as number;
      if (type === recordTypes.entry) this.#copyEntry(from, at, source, batch, into);
      else if (type === recordTypes.message || type === recordTypes.copy)
        this.#copyMessage(from, at, type, segment, batch, into);
    }
    this.#source = undefined;
    if (segment.live === 0) return;
    this.#isStuck = true; // damaged since the log was opened, or since its hint was written
    this.removeHint(segment);
    this.options.damaged(cannotBeFreed(segment.name, segment.live));
  }

  /** Finds the records, in turns. */
  async #look(segment: Segment, bytes: Buffer): Promise<Source> {
    const { recordsInTurn, runtime } = this.options;
    const reader = new RecordReader(bytes, segment.salt);
    const from = new ByteSource(bytes);
    const records = new NumberList();
    const last = new Map<number, number>();
    let damaged = 0;
    let { end } = reader;
    for (let at = reader.next(); at !== 0; at = reader.next()) {
      damaged += at - end;
      end = reader.end;
      records.push(at);
      if (records.length % recordsInTurn === 0) await nextTurn(runtime);
      if (bytes[at + typeAt] !== recordTypes.entry) continue;
      from.at = at + recordHead;
      last.set(from.varint(), at);
    }
    damaged += segment.end - end;
    return { segment, bytes, records, last: damaged === segment.damaged ? last : undefined };
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

  #copyEntry(from: ByteSource, at: number, { segment, last }: Source, batch: Batch, into: Segment): void {
    const { entries, segments } = this.inventory;
    const number = from.varint();
    const isLive = number < entries.end && (entries.flags.get(number) & Flag.Live) !== 0;
    if (!isLive || entries.segment.get(number) !== segment.number) return;
    if ((entries.flags.get(number) & Flag.Stored) === 0) return;
    if (!this.inventory.isLeaving(number)) {
      if (entries.entries.get(number) !== undefined) return encodeEntry(this.inventory, batch, into, number);
      // Its queue keeps it as a row: nothing of it has changed since its last record. Earlier ones are of an older state, or of another
      // entry with this number. While it is not certain which one is the last, the row keeps the segment.
      if (last?.get(number) !== at) return;
      const bytes = this.inventory.bytesOf(number);
      batch.repeat(from.bytes.subarray(at, at + typeAt + from.bytes.readUInt32BE(at)));
      segments.removeRecord(segment.number, bytes);
      entries.segment.set(number, into.number);
      segments.addRecord(into.number, bytes);
      return;
    }
    // The queue is deleted: the entry is about to be dropped, and is not copied.
    segments.removeRecord(segment.number, this.inventory.bytesOf(number));
    entries.flags.set(number, entries.flags.get(number) & ~Flag.Stored);
  }

  #copyMessage(from: ByteSource, at: number, type: number, segment: Segment, batch: Batch, into: Segment): void {
    const { messages } = this.inventory;
    const number = from.varint();
    if (messages.segment.get(number) !== segment.number || messages.offset.get(number) !== at) return;
    const serial = from.varint();
    from.varint();
    const end = at + typeAt + from.bytes.readUInt32BE(at);
    const before = batch.length;
    messages.offset.set(number, batch.rewrite(type, number, serial, from.bytes.subarray(from.at, end)));
    this.segments.removeRecord(segment.number, messages.length.get(number));
    messages.segment.set(number, into.number);
    messages.length.set(number, batch.length - before);
    this.segments.addRecord(into.number, batch.length - before);
  }
}
