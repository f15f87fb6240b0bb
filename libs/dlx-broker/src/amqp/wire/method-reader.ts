import {
  ByteReader,
  decodeText,
  type FieldTable,
  isUtf8,
  readTable as read,
  readTableBody as readBody,
  UnknownFieldType,
} from '../../engine/message/index.js';
import type { FrameWriter } from './frame/writer.js';
import { WireError } from './wire-error.js';

/** A power of two. */
const places = 16;

/** The longest text that is remembered, in bytes. */
const longest = 64;

/**
 * Reads short strings that are often the same, such as the exchange of each delivery: comparing bytes with a text costs less than making
 * a text of them. At most 16 texts of 64 bytes are remembered.
 */
export class KnownTexts {
  readonly #known: string[] = [];

  /** @throws Malformed beyond the end */
  read(from: ByteReader): string {
    const length = from.octet();
    const at = from.take(length);
    const { bytes } = from;
    if (length > longest) return decodeText(bytes, at, at + length);
    const place = (length + (bytes[at + length - 1] as number)) & (places - 1);
    const known = this.#known[place];
    if (known !== undefined && isText(known, bytes, at, length)) return known;
    return (this.#known[place] = decodeText(bytes, at, at + length));
  }
}

/** Whether a text is these bytes in ASCII. Any other text is not recognised, because its characters are not its bytes. */
function isText(text: string, bytes: Buffer, at: number, length: number): boolean {
  if (text.length !== length) return false;
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code !== bytes[at + index] || code > 127) return false;
  }
  return true;
}

/** Reads a field table with its length in front (rule T8). @throws Malformed, or WireError 541 for an unknown type */
export const readTable = (from: ByteReader): FieldTable => orInternalError(() => read(from));

/** The rest of the bytes as a table without a length, as AMQPLAIN has it. @throws Malformed, or WireError 541 */
export const readTableBody = (from: ByteReader): FieldTable => orInternalError(() => readBody(from));

/** Makes WireError 541 of an unknown field type, as RabbitMQ does. */
export function orInternalError<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof UnknownFieldType) throw new WireError('INTERNAL_ERROR', error.message);
    throw error;
  }
}

/** Reads the arguments of methods. A name may have any bytes, as a server may send them, and keeps all of them. */
export class MethodReader extends ByteReader {
  #names: KnownTexts | undefined;

  /** A short string of a method. */
  name(): string {
    return (this.#names ??= new KnownTexts()).read(this);
  }
}

/** Reads the methods of clients, whose names have to be UTF-8, as RabbitMQ does. */
export class StrictMethodReader extends MethodReader {
  /** @throws WireError 501 when a name is not UTF-8 */
  override name(): string {
    const length = this.octet();
    const at = this.take(length);
    const name = decodeText(this.bytes, at, at + length);
    if (!isUtf8(name)) throw new WireError('FRAME_ERROR', 'Malformed UTF-8 in shortstr');
    return name;
  }
}

/** Reads a method without arguments. */
export const readNoArguments = (from: MethodReader): void => from.finish();

/** @param id class and method in one number @returns a function that writes this method, which has no arguments */
export const emptyWriter =
  (id: number) =>
  (to: FrameWriter, channel: number): void => {
    to.method(channel, id);
    to.end();
  };
