import {
  ByteReader,
  ByteWriter,
  copyProperties,
  type FieldTable,
  noBytes,
  PackedTable,
  type Properties,
  readTableBody,
} from '../../../message/index.js';
import { type Head, type Metadata, type Part, TableFields } from './metadata.js';

/** The first byte of a delta: a bit for each property that differs from the head's. The values of these properties follow in this order. */
const enum Differs {
  RoutingKey = 1,
  MessageId = 2,
  CorrelationId = 4,
  ReplyTo = 8,
  Expiration = 16,
  Type = 32,
  Timestamp = 64,
  Headers = 128,
  /** The message differs in a way that a delta cannot express. It is not in the byte. */
  Unwritable = 256,
}

/**
 * The first byte of a text. A value up to LongestPrefix is the length of the prefix that the text shares with the same text of the head.
 * Then the number of other characters follows, and these characters, one byte each.
 */
const enum TextKind {
  LongestPrefix = 252,
  /** There is no text. */
  None = 253,
  /** The text has characters beyond ASCII: its length in bytes follows, and then its UTF-16. */
  Wide = 254,
  /** The text is a UUID in lower case: its 16 bytes follow. */
  Uuid = 255,
}

/** The first byte of headers: the form in which the reader returns them. */
const enum TableKind {
  None,
  Map,
  Packed,
  /** The headers are the same object as those of an earlier delta, whose position follows. */
  Again,
}

/** Larger timestamps are not written, because their difference might not be exact. */
const maxTimestamp = 2 ** 51;
const dashes: readonly number[] = [8, 13, 18, 23];
const uuidLength = 36;
/** The positions of the digits in a UUID, two for each byte. */
const uuidDigits: readonly number[] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/**
 * Writes a message's metadata as a delta: its differences from the metadata of a similar message, the head. A backlog holds many similar
 * messages, and a delta needs a few bytes.
 */
export class DeltaWriter extends ByteWriter {
  readonly #tables: TableFields;
  /** The last headers that were written, the head from which they differ, and where they are. */
  #lastHeaders: FieldTable | undefined;
  #lastHead: Head | undefined;
  #lastAt = 0;

  constructor(tables: TableFields) {
    super(noBytes);
    this.#tables = tables;
    this.octet(0); // no delta is at 0
  }

  /** All bytes so far, in a buffer of their own; no bytes if there is no delta. */
  override get written(): Buffer {
    if (this.at === 1) return noBytes;
    const copy = Buffer.allocUnsafeSlow(this.at);
    this.bytes.copy(copy, 0, 0, this.at);
    return copy;
  }

  /** @param head is alike @returns where the delta is, 0 when there is no difference, below 0 when it cannot be written */
  write(head: Head, { routingKey, own }: Metadata): number {
    const start = this.at;
    this.octet(0);
    let differs = this.#text(Differs.RoutingKey, head.routingKey, routingKey);
    const known = head.own;
    if (own !== known) {
      differs |= this.#text(Differs.MessageId, known.messageId, own.messageId);
      differs |= this.#text(Differs.CorrelationId, known.correlationId, own.correlationId);
      differs |= this.#text(Differs.ReplyTo, known.replyTo, own.replyTo);
      differs |= this.#text(Differs.Expiration, known.expiration, own.expiration);
      differs |= this.#text(Differs.Type, known.type, own.type);
      if (own.timestamp !== known.timestamp) differs |= this.#timestamp(known.timestamp, own.timestamp);
      if (differs < Differs.Unwritable && own.headers !== known.headers) differs |= this.#headers(head, own.headers);
    }
    if (differs > 0 && differs < Differs.Unwritable) {
      this.bytes[start] = differs;
      return start;
    }
    this.at = start;
    return differs === 0 ? 0 : -1;
  }

  #text(bit: number, known: string | undefined, text: string | undefined): number {
    if (text === known) return 0;
    if (text === undefined) {
      this.octet(TextKind.None);
      return bit;
    }
    if (text.length === uuidLength && this.#uuid(text)) return bit;
    const { length } = text;
    const limit = known === undefined ? 0 : Math.min(TextKind.LongestPrefix, length, known.length);
    let prefix = 0;
    while (prefix < limit && text.charCodeAt(prefix) === known?.charCodeAt(prefix)) prefix++;
    const start = this.at;
    this.octet(prefix);
    this.varint(length - prefix);
    if (this.at + length > this.bytes.length) this.grow(length);
    let widest = 0;
    for (let index = 0; index < length; index++) widest |= text.charCodeAt(index);
    if (widest > 127) return this.#wide(bit, start, text);
    for (let index = prefix; index < length; index++) this.bytes[this.at++] = text.charCodeAt(index);
    return bit;
  }

  #wide(bit: number, start: number, text: string): number {
    this.at = start;
    const bytes = Buffer.from(text, 'utf16le');
    this.octet(TextKind.Wide);
    this.varint(bytes.length);
    this.raw(bytes, 0, bytes.length);
    return bit;
  }

  /** @returns false when the text is no UUID in lower case; then nothing is written */
  #uuid(text: string): boolean {
    for (const dash of dashes) if (text.charCodeAt(dash) !== 45) return false;
    const start = this.at;
    this.octet(TextKind.Uuid);
    for (const index of uuidDigits) {
      const byte = (nibble(text.charCodeAt(index)) << 4) | nibble(text.charCodeAt(index + 1));
      if (byte < 0) {
        this.at = start;
        return false;
      }
      this.octet(byte);
    }
    return true;
  }

  /** 0 for none, or 1 more than the difference, with its sign in the lowest bit. */
  #timestamp(known: number | bigint = 0, time: number | bigint | undefined): number {
    if (time === undefined) this.octet(0);
    else if (!isSmall(known) || !isSmall(time)) return Differs.Unwritable;
    else this.varint(1 + signed(time - known));
    return Differs.Timestamp;
  }

  /**
   * The kind, the number of bytes that are the same at the start and at the end, and then those between. Headers that are the object of the
   * delta before are written once: messages that failed together share them.
   */
  #headers(head: Head, headers: FieldTable | undefined): number {
    if (headers === undefined) {
      this.octet(TableKind.None);
      return Differs.Headers;
    }
    if (headers === this.#lastHeaders && head === this.#lastHead) {
      this.octet(TableKind.Again);
      this.varint(this.#lastAt);
      return Differs.Headers;
    }
    const known = head.fieldsBy(this.#tables);
    const part = this.#tables.of(headers);
    if (part === undefined) return Differs.Unwritable;
    const kind = kindOf(headers);
    const length = part.end - part.start;
    const limit = Math.min(length, known.length);
    const prefix = samePrefix(known, part, limit);
    // A head without bytes may have headers that cannot be bytes.
    if (prefix > 0 && prefix === length && length === known.length && kind === kindOf(head.own.headers)) return 0;
    const suffix = sameSuffix(known, part, limit - prefix);
    this.#lastHeaders = headers;
    this.#lastHead = head;
    this.#lastAt = this.at;
    this.octet(kind);
    this.varint(prefix);
    this.varint(suffix);
    this.varint(length - prefix - suffix);
    this.raw(part.bytes, part.start + prefix, part.end - suffix);
    return Differs.Headers;
  }

  varint(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.octet((rest % 128) + 128);
    this.octet(rest);
  }
}

const kindOf = (headers: FieldTable | undefined): TableKind =>
  headers === undefined ? TableKind.None : headers instanceof PackedTable ? TableKind.Packed : TableKind.Map;

const signed = (difference: number): number => (difference < 0 ? -2 * difference - 1 : 2 * difference);

const isSmall = (time: number | bigint): time is number =>
  typeof time === 'number' && Number.isInteger(time) && time >= 0 && time <= maxTimestamp;

/** The value of a hexadecimal digit in lower case; below 0 for other characters. */
function nibble(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  return code >= 97 && code <= 102 ? code - 87 : -1;
}

function samePrefix(one: Buffer, { bytes, start }: Part, limit: number): number {
  let length = 0;
  while (length < limit && one[length] === bytes[start + length]) length++;
  return length;
}

function sameSuffix(one: Buffer, { bytes, end }: Part, limit: number): number {
  let length = 0;
  while (length < limit && one[one.length - 1 - length] === bytes[end - 1 - length]) length++;
  return length;
}

const hex = Buffer.from('0123456789abcdef');

/** Reads what a {@link DeltaWriter} wrote. */
class DeltaReader extends ByteReader {
  readonly #uuid = Buffer.alloc(uuidLength, '-');
  #text = Buffer.alloc(64);
  /** The headers that were read last, and where they are. */
  #lastHeaders: FieldTable | undefined;
  #lastBytes: Buffer = noBytes;
  #lastAt = 0;

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const octet = this.octet();
      value += (octet & 127) * factor;
      if (octet < 128) return value;
    }
  }

  textLike(known: string | undefined): string | undefined {
    const kind = this.octet();
    if (kind === TextKind.None) return undefined;
    if (kind === TextKind.Uuid) return this.uuid();
    const length = this.varint();
    const at = this.take(length);
    if (kind === TextKind.Wide) return this.bytes.toString('utf16le', at, at + length);
    return kind === 0 || known === undefined
      ? this.bytes.toString('latin1', at, at + length)
      : this.#joined(known, kind, at, length);
  }

  /** A text of two parts: a string that V8 joins would keep both. */
  #joined(known: string, prefix: number, at: number, length: number): string {
    const whole = prefix + length;
    if (this.#text.length < whole) this.#text = Buffer.alloc(2 * whole);
    const text = this.#text;
    for (let index = 0; index < prefix; index++) text[index] = known.charCodeAt(index);
    for (let index = 0; index < length; index++) text[prefix + index] = this.bytes[at + index] as number;
    return text.toString('latin1', 0, whole);
  }

  uuid(): string {
    const text = this.#uuid;
    for (const at of uuidDigits) {
      const octet = this.octet();
      text[at] = hex[octet >> 4] as number;
      text[at + 1] = hex[octet & 15] as number;
    }
    return text.toString('latin1', 0, uuidLength);
  }

  /** A timestamp of the head is small, unless there is none here. */
  timestamp(known: number | bigint = 0): number | undefined {
    const difference = this.varint() - 1;
    if (difference < 0 || typeof known === 'bigint') return undefined;
    return difference % 2 === 1 ? known - (difference + 1) / 2 : known + difference / 2;
  }

  headers(head: Head): FieldTable | undefined {
    const start = this.at;
    const kind = this.octet() as TableKind;
    if (kind === TableKind.None) return undefined;
    if (kind !== TableKind.Again) return this.#headersAt(start, kind, head);
    const at = this.varint();
    if (at === this.#lastAt && this.bytes === this.#lastBytes) return this.#lastHeaders;
    this.reset(this.bytes, at, this.bytes.length);
    return this.#headersAt(at, this.octet() as TableKind, head);
  }

  #headersAt(start: number, kind: TableKind, { fields: known }: Head): FieldTable {
    const prefix = this.varint();
    const suffix = this.varint();
    const length = this.varint();
    const at = this.take(length);
    const fields = Buffer.allocUnsafe(prefix + length + suffix);
    known.copy(fields, 0, 0, prefix);
    this.bytes.copy(fields, prefix, at, at + length);
    known.copy(fields, prefix + length, known.length - suffix);
    const headers = kind === TableKind.Packed ? PackedTable.ofFields(fields) : readTableBody(new ByteReader(fields));
    this.#lastHeaders = headers;
    this.#lastBytes = this.bytes;
    this.#lastAt = start;
    return headers;
  }
}

const reader = new DeltaReader(noBytes);

/** Reads what {@link DeltaWriter} wrote. @param at where the delta begins @param head the one it was written for */
export function readDelta(bytes: Buffer, at: number, head: Head): Metadata {
  const { exchange, routingKey, own, notes } = head;
  reader.reset(bytes, at, bytes.length);
  const differs = reader.octet();
  const key = (differs & Differs.RoutingKey) === 0 ? routingKey : (reader.textLike(routingKey) as string);
  return { exchange, routingKey: key, own: differs === Differs.RoutingKey ? own : ownBy(differs, head), notes };
}

function ownBy(differs: number, head: Head): Properties {
  const { own } = head;
  const copy = copyProperties(own);
  if ((differs & Differs.MessageId) !== 0) copy.messageId = reader.textLike(own.messageId);
  if ((differs & Differs.CorrelationId) !== 0) copy.correlationId = reader.textLike(own.correlationId);
  if ((differs & Differs.ReplyTo) !== 0) copy.replyTo = reader.textLike(own.replyTo);
  if ((differs & Differs.Expiration) !== 0) copy.expiration = reader.textLike(own.expiration);
  if ((differs & Differs.Type) !== 0) copy.type = reader.textLike(own.type);
  if ((differs & Differs.Timestamp) !== 0) copy.timestamp = reader.timestamp(own.timestamp);
  if ((differs & Differs.Headers) !== 0) copy.headers = reader.headers(head);
  return copy;
}
