import {
  basicClass,
  ByteWriter,
  type FieldTable,
  type Message,
  type Notes,
  type Properties,
  writeSortedTable,
} from '../../../engine/message/index.js';
import { ReceivedProperties, maxRemembered } from './received.js';
import { writeHeaders, writeProperties } from './write-properties.js';

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
