import { ByteSource } from './bytes.js';
import { digestBits } from './digest.js';
import type { Envelope } from './envelope.js';
import type { Replay } from './replay.js';
import { recordTypes, segmentHead } from './segment-header.js';

/** Replays a digest: the result is that of the segment. */
export class DigestReader {
  readonly #source: ByteSource;
  #end = segmentHead;
  #number = 0;
  #serial = 0;
  #queue = 0;
  #length = 0;
  #size = 0;
  #envelope: Envelope | undefined;
  #entry = 0;
  #message = 0;
  #entrySerial = 0;
  #entryQueue = 0;
  #position = 0;
  /** The records so far include a checkpoint. */
  hasCheckpoint = false;

  constructor(
    readonly digest: Buffer,
    readonly replay: Replay,
    /** The number of the segment. */
    readonly segment: number,
  ) {
    this.#source = new ByteSource(digest);
  }

  /** Replays records. @param limit the most records @returns whether there are more */
  some(limit: number): boolean {
    const source = this.#source;
    const { length } = this.digest;
    for (let left = limit; source.at < length; left--) {
      if (left === 0) return true;
      const first = source.octet();
      const type = first & digestBits.type;
      if (type === recordTypes.entry) this.#readEntry(source, first);
      else if (type === recordTypes.message || type === recordTypes.copy) this.#readMessage(source, first);
      else this.#readRest(source, type);
    }
    return false;
  }

  #readMessage(source: ByteSource, first: number): void {
    const { replay } = this;
    this.#number = (first & digestBits.number) === 0 ? this.#number + 1 : source.varint();
    if ((first & digestBits.serial) === 0) {
      this.#serial++;
    } else {
      this.#serial = source.varint();
      this.#queue = source.varint();
    }
    if ((first & digestBits.length) !== 0) {
      this.#length = source.varint();
      this.#size = source.varint();
    }
    const isCopy = (first & digestBits.type) === recordTypes.copy;
    const root = isCopy ? source.varint() : 0;
    const rootSerial = isCopy ? source.varint() : 0;
    if ((first & digestBits.more) !== 0) {
      this.#end += source.varint();
      this.#envelope = replay.envelope(source);
    }
    replay.message(this.segment, this.#number, this.#serial, this.#queue, this.#end, this.#length);
    replay.content(this.#number, root, rootSerial, this.#envelope as Envelope, this.#size);
    this.#end += this.#length;
  }

  #readEntry(source: ByteSource, first: number): void {
    this.#entry = (first & digestBits.number) === 0 ? this.#entry + 1 : source.varint();
    if ((first & digestBits.serial) === 0) {
      this.#message++;
      this.#entrySerial++;
    } else {
      this.#message = source.varint();
      this.#entrySerial = source.varint();
    }
    if ((first & digestBits.length) === 0) {
      this.#position++;
    } else {
      this.#entryQueue = source.varint();
      this.#position = source.varint();
    }
    const hasBits = (first & digestBits.more) !== 0;
    if (hasBits) source.varint(); // their length
    const bits = hasBits ? source : undefined;
    const { segment, replay } = this;
    replay.entry(segment, this.#entry, this.#message, this.#entrySerial, this.#entryQueue, this.#position, bits);
  }

  #readRest(source: ByteSource, type: number): void {
    const end = source.varint() + source.at;
    if (type === recordTypes.checkpoint) this.hasCheckpoint = true;
    this.replay.rest(type, source, end);
    source.at = end;
  }
}
