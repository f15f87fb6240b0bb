import {
  ByteReader,
  copyProperties,
  type FieldTable,
  noBytes,
  PackedTable,
  type Properties,
  readTableBody,
} from '../../message/index.js';
import type { Head, Metadata } from './metadata.js';
import { Differs, TableKind, TextKind, uuidDigits, uuidLength } from './metadata-delta.js';

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

/** The metadata of a message, of which only the differences from a head were kept. @param at where these are in the bytes */
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
