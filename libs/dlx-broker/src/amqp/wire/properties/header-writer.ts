import {
  basicClass,
  ByteWriter,
  type FieldTable,
  type Message,
  type Notes,
  PackedTable,
  type Properties,
  writeSortedTable,
  writeTable,
} from '../../../engine/message/index.js';
import { maxRemembered, ReceivedProperties } from './received.js';

/** Writes content headers. Remembers the headers of the last dead letter: those of the next one are often the same. */
export class HeaderWriter {
  // The bytes of the last dead letter's headers, and all that they depend on.
  #notes: Notes | undefined;
  #own: FieldTable | undefined;
  #expiration: string | undefined;
  #bytes: Uint8Array | undefined;

  /** Writes a content header's payload. */
  write(to: ByteWriter, { own, notes, size }: Message): void {
    to.long(basicClass << 16);
    to.long(0);
    to.long(size);
    if (notes?.areWritten === true) return this.#noted(to, own, notes);
    const bytes = ReceivedProperties.bytesOf(own);
    if (bytes !== undefined) to.raw(bytes, 0, bytes.length);
    else writeProperties(to, own, own.expiration, own.headers && (() => writeHeaders(to, own.headers as FieldTable)));
  }

  #noted(to: ByteWriter, own: Properties, notes: Notes): void {
    if (notes.deaths !== undefined) return writeProperties(to, own, undefined, () => this.#dead(to, own, notes));
    writeProperties(to, own, own.expiration, () => writeHeaders(to, notes.headers(own) as FieldTable));
  }

  /** Writes the headers of a dead letter, sorted by name (rule H12). */
  #dead(to: ByteWriter, own: Properties, notes: Notes): void {
    const { headers, expiration } = own;
    if (notes !== this.#notes || headers !== this.#own || expiration !== this.#expiration) {
      const writer = new ByteWriter(Buffer.allocUnsafe(expectedLength));
      writeSortedTable(writer, notes.headers(own) as FieldTable);
      this.#bytes = writer.written;
      this.#notes = notes;
      this.#own = headers;
      this.#expiration = expiration;
    }
    const bytes = this.#bytes as Uint8Array;
    to.raw(bytes, 0, bytes.length);
    if (bytes.length > maxRemembered) this.#notes = this.#bytes = undefined;
  }
}

/** Size of the first buffer for the headers of a dead letter, in bytes. */
const expectedLength = 512;

/**
 * Writes property flags and values.
 * @param expiration written instead of the expiration of the properties
 * @param writeHeaders writes the table of headers; undefined when there is none
 */
export function writeProperties(
  to: ByteWriter,
  properties: Properties,
  expiration: string | undefined,
  writeHeaders: (() => void) | undefined,
): void {
  const { contentType, contentEncoding, deliveryMode, priority, correlationId, replyTo } = properties;
  const { messageId, timestamp, type, userId, appId, clusterId } = properties;
  to.short(
    (contentType === undefined ? 0 : 0x8000) |
      (contentEncoding === undefined ? 0 : 0x4000) |
      (writeHeaders === undefined ? 0 : 0x2000) |
      (deliveryMode === undefined ? 0 : 0x1000) |
      (priority === undefined ? 0 : 0x0800) |
      (correlationId === undefined ? 0 : 0x0400) |
      (replyTo === undefined ? 0 : 0x0200) |
      (expiration === undefined ? 0 : 0x0100) |
      (messageId === undefined ? 0 : 0x0080) |
      (timestamp === undefined ? 0 : 0x0040) |
      (type === undefined ? 0 : 0x0020) |
      (userId === undefined ? 0 : 0x0010) |
      (appId === undefined ? 0 : 0x0008) |
      (clusterId === undefined ? 0 : 0x0004),
  );
  if (contentType !== undefined) to.shortstr(contentType);
  if (contentEncoding !== undefined) to.shortstr(contentEncoding);
  writeHeaders?.();
  if (deliveryMode !== undefined) to.octet(deliveryMode);
  if (priority !== undefined) to.octet(priority);
  if (correlationId !== undefined) to.shortstr(correlationId);
  if (replyTo !== undefined) to.shortstr(replyTo);
  if (expiration !== undefined) to.shortstr(expiration);
  if (messageId !== undefined) to.shortstr(messageId);
  if (timestamp !== undefined) to.longlong(timestamp);
  if (type !== undefined) to.shortstr(type);
  if (userId !== undefined) to.shortstr(userId);
  if (appId !== undefined) to.shortstr(appId);
  if (clusterId !== undefined) to.shortstr(clusterId);
}

/** Writes a table of headers. One that a client sent goes out as it came in (rule H4). */
export function writeHeaders(to: ByteWriter, headers: FieldTable): void {
  if (!(headers instanceof PackedTable)) return writeTable(to, headers);
  to.long(headers.length);
  to.raw(headers.bytes, headers.start, headers.end);
}
