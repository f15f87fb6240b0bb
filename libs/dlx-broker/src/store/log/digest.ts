import { noBytes } from '../../engine/message/index.js';
import { ByteSink, ByteSource } from './bytes.js';
import { recordHead, recordTypes, segmentHead, typeAt } from './segment-header.js';

/**
 * The first byte of a record in a digest: its type below, and above it what differs from the record of this type before.
 * Only what differs follows.
 */
export const digestBits = {
  type: 0x0f,
  /** The number is not the next one. */
  number: 0x10,
  /** Of a message: its serial is not the next one, or its queue is another. Of an entry: so are its message or its serial. */
  serial: 0x20,
  /** Of a message: its record or its body has another length. Of an entry: its queue is another, or its position not the next one. */
  length: 0x40,
  /** Of a message: its envelope is another, or other records stand before it. Of an entry: it has bits. */
  more: 0x80,
} as const;

/** Envelopes of up to this many bytes are compared with the one before. */
const maxCompared = 64;

/**
 * The records of a segment without the bodies: all that is needed to replay the segment. It grows with the segment, record
 * by record, and becomes its hint. Equal records make an equal digest.
 */
export class Digest {
  #sink = new ByteSink(1_024);
  #isWhole = true;
  readonly #source = new ByteSource(noBytes);
  /** Of the last message: the end of its record, and what the next one is compared with. */
  #end = segmentHead;
  #number = 0;
  #serial = 0;
  #queue = 0;
  #length = 0;
  #size = 0;
  /** Where the last envelope is in the sink. */
  #envelope = 0;
  #envelopeEnd = 0;
  /** Of the last entry. */
  #entry = 0;
  #message = 0;
  #entrySerial = 0;
  #entryQueue = 0;
  #position = 0;

  /** @param limit the most bytes; a longer digest is not used, and its bytes are released */
  constructor(readonly limit: number) {}

  /** Whether the digest has every record so far: it is not too long. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Nothing once it was given up. */
  get bytes(): Buffer {
    return this.#sink.bytes.subarray(0, this.#sink.at);
  }

  /**
   * Adds a record, in the order of the segment.
   * @param bytes from `start` on they have the record; its body may be missing, and its length and CRC
   * @param at where the record is in the segment
   * @param length of the record in the segment
   */
  add(bytes: Buffer, start: number, at: number, length: number): void {
    if (!this.#isWhole) return;
    const source = this.#source;
    source.bytes = bytes;
    source.at = start + recordHead;
    const type = bytes[start + typeAt] as number;
    if (type === recordTypes.message || type === recordTypes.copy) this.#addMessage(type, source, start, at, length);
    else if (type === recordTypes.entry) this.#addEntry(source, start + length);
    else this.#addRest(type, source, start + length);
    if (this.#sink.at <= this.limit) return;
    this.#isWhole = false;
    this.#sink = new ByteSink(0);
  }

  #addMessage(type: number, source: ByteSource, start: number, at: number, length: number): void {
    const sink = this.#sink;
    const number = source.varint();
    const serial = source.varint();
    const queue = source.varint();
    const isCopy = type === recordTypes.copy;
    const root = isCopy ? source.varint() : 0;
    const rootSerial = isCopy ? source.varint() : 0;
    const sizeOfCopy = isCopy ? source.varint() : 0;
    const envelope = source.at;
    const envelopeEnd = source.varint() + source.at;
    const size = isCopy ? sizeOfCopy : length - (envelopeEnd - start);
    const hasNumber = number !== this.#number + 1;
    const hasSerial = serial !== this.#serial + 1 || queue !== this.#queue;
    const hasLength = length !== this.#length || size !== this.#size;
    const hasMore = at !== this.#end || !this.#isEnvelope(source.bytes, envelope, envelopeEnd);
    sink.octet(
      type |
        (hasNumber ? digestBits.number : 0) |
        (hasSerial ? digestBits.serial : 0) |
        (hasLength ? digestBits.length : 0) |
        (hasMore ? digestBits.more : 0),
    );
    if (hasNumber) sink.varint(number);
    if (hasSerial) {
      sink.varint(serial);
      sink.varint(queue);
    }
    if (hasLength) {
      sink.varint(length);
      sink.varint(size);
    }
    if (isCopy) {
      sink.varint(root);
      sink.varint(rootSerial);
    }
    if (hasMore) {
      sink.varint(at - this.#end);
      this.#envelope = sink.at;
      sink.raw(source.bytes.subarray(envelope, envelopeEnd));
      this.#envelopeEnd = sink.at;
    }
    this.#number = number;
    this.#serial = serial;
    this.#queue = queue;
    this.#length = length;
    this.#size = size;
    this.#end = at + length;
  }

  #isEnvelope(bytes: Buffer, from: number, to: number): boolean {
    const length = to - from;
    if (length > maxCompared || length !== this.#envelopeEnd - this.#envelope) return false;
    const { bytes: known } = this.#sink;
    const start = this.#envelope;
    for (let index = 0; index < length; index++) if (known[start + index] !== bytes[from + index]) return false;
    return true;
  }

  #addEntry(source: ByteSource, end: number): void {
    const sink = this.#sink;
    const number = source.varint();
    const message = source.varint();
    const serial = source.varint();
    const queue = source.varint();
    const position = source.varint();
    const hasNumber = number !== this.#entry + 1;
    const hasSerial = message !== this.#message + 1 || serial !== this.#entrySerial + 1;
    const hasPlace = queue !== this.#entryQueue || position !== this.#position + 1;
    const hasBits = source.bytes[source.at] !== 0;
    sink.octet(
      recordTypes.entry |
        (hasNumber ? digestBits.number : 0) |
        (hasSerial ? digestBits.serial : 0) |
        (hasPlace ? digestBits.length : 0) |
        (hasBits ? digestBits.more : 0),
    );
    if (hasNumber) sink.varint(number);
    if (hasSerial) {
      sink.varint(message);
      sink.varint(serial);
    }
    if (hasPlace) {
      sink.varint(queue);
      sink.varint(position);
    }
    if (hasBits) sink.octets(source.bytes.subarray(source.at, end));
    this.#entry = number;
    this.#message = message;
    this.#entrySerial = serial;
    this.#entryQueue = queue;
    this.#position = position;
  }

  #addRest(type: number, source: ByteSource, end: number): void {
    this.#sink.octet(type);
    this.#sink.octets(source.bytes.subarray(source.at, end));
  }
}
