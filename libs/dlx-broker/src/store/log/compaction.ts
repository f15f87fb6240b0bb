import type { Batch } from './batch.js';
import { ByteSource } from './byte-source.js';
import { encodeEntry } from './encode-inventory.js';
import { Mark } from './entry-table.js';
import type { Inventory } from './inventory.js';
import { recordHead, recordTypes, typeAt } from './record.js';
import { scan } from './scan.js';
import type { Segment, Segments } from './segment.js';

/** How much longer than what is needed it may be. */
const factor = 3;

/** Frees the oldest segments of the log: what is still needed of them is written once more, at its end. */
export class Compaction {
  #source: { readonly segment: Segment; readonly bytes: Buffer } | undefined;
  #isReading = false;
  /** Bytes it takes to tell what is declared, which is needed, too. */
  declaredBytes = 0;
  /** Segments that could not be read: nothing after them may go either. */
  #isStuck = false;

  constructor(
    readonly inventory: Inventory,
    readonly segments: Segments,
    /** Bytes the log may always have. */
    readonly slack: number,
  ) {}

  /** Whether a segment is ready to be copied by the next batch. */
  get isReady(): boolean {
    return this.#source !== undefined;
  }

  /** The oldest segment that is not written to any more, if there is too much of the log. */
  get #next(): Segment | undefined {
    const { oldest, active, bytes, liveBytes } = this.segments;
    if (oldest === undefined || oldest === active || oldest.live === 0) return undefined;
    return bytes > Math.max(this.slack, factor * (liveBytes + this.declaredBytes)) ? oldest : undefined;
  }

  /** Begins to read the next segment if it is time for it. @param ready called when it is in memory */
  prepare(ready: () => void, failed: (error: unknown) => void): void {
    if (this.#isReading || this.#isStuck || this.#source !== undefined) return;
    const segment = this.#next;
    if (segment === undefined) return;
    this.#isReading = true;
    void this.#read(segment)
      .then((bytes) => {
        this.#source = { segment, bytes };
        ready();
      }, failed)
      .finally(() => (this.#isReading = false));
  }

  /** Copies what is needed of the segment in memory. */
  copy(batch: Batch, into: Segment): void {
    const source = this.#source;
    this.#source = undefined;
    if (source === undefined || source.segment.live === 0) return;
    const { segment, bytes } = source;
    const { records } = scan(bytes, segment.salt);
    const from = new ByteSource(bytes);
    for (const at of records) {
      from.at = at + recordHead;
      const type = bytes[at + typeAt] as number;
      if (type === recordTypes.entry) this.#copyEntry(from, segment, batch, into);
      else if (type === recordTypes.message || type === recordTypes.copy)
        this.#copyMessage(from, at, type, segment, batch, into);
    }
    this.#isStuck = segment.live > 0; // damaged since it was written: it stays, and so do all after it
  }

  async #read({ file, end }: Segment): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(end);
    let at = 0;
    while (at < end) {
      const read = await file.read(bytes.subarray(at), at);
      if (read === 0) break;
      at += read;
    }
    return bytes.subarray(0, at);
  }

  #copyEntry(from: ByteSource, segment: Segment, batch: Batch, into: Segment): void {
    const { entries } = this.inventory;
    const number = from.varint();
    const isLive = number < entries.end && (entries.marks.get(number) & Mark.Live) !== 0;
    if (!isLive || entries.segment.get(number) !== segment.number) return;
    if ((entries.marks.get(number) & Mark.Stored) !== 0) encodeEntry(this.inventory, batch, into, number);
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
