import { AmqpError } from '../broker/index.js';
import { frameError, frameTypes } from './frame/reader.js';
import { bodySizeIn, headerPrefix, PropertiesReader, type ReceivedProperties } from './properties.js';

const basicClass = 60;

/** A publish whose content is still to come. */
export interface Publishing {
  readonly exchange: string;
  readonly routingKey: string;
  readonly mandatory: boolean;
  readonly immediate: boolean;
}

/**
 * Puts a message together from its header and any number of body frames (rules T5, T6). What it keeps grows with what
 * has arrived, never with what was announced.
 */
export class Content {
  publishing: Publishing | undefined;
  properties: ReceivedProperties | undefined;
  body: Buffer = nothing;
  readonly #reader = new PropertiesReader();
  #missing = 0;
  #parts: Buffer[] | undefined;

  /** Whether a message has begun, so that only its frames may come. */
  get isAwaited(): boolean {
    return this.publishing !== undefined;
  }

  begin(publishing: Publishing): void {
    this.publishing = publishing;
    this.properties = undefined;
  }

  /** Forgets a message that was begun. */
  clear(): void {
    this.publishing = undefined;
    this.#parts = undefined;
    this.body = nothing;
  }

  /**
   * The next frame of the message.
   * @param largest bytes of a body at most
   * @returns whether the message is complete
   * @throws AmqpError 505, 501, 541, or 406 when it is too large (rule K7)
   */
  frame(type: number, bytes: Buffer, start: number, end: number, largest: number): boolean {
    if (this.properties === undefined) return this.#header(type, bytes, start, end, largest);
    if (type !== frameTypes.body) throw unexpected('expected content body, got non content body frame instead');
    const length = end - start;
    if (length > this.#missing) throw frameError(type, bytes.subarray(start, end), '{body_too_large}');
    const part = kept(bytes, start, end);
    this.#missing -= length;
    if (this.#missing === 0) {
      this.body = this.#parts === undefined ? part : Buffer.concat([...this.#parts, part]);
      this.#parts = undefined;
      return true;
    }
    if (length > 0) (this.#parts ??= []).push(part);
    return false;
  }

  #header(type: number, bytes: Buffer, start: number, end: number, largest: number): boolean {
    // A weight that is not 0 makes it no content header at all.
    if (type !== frameTypes.header || bytes.readUInt16BE(start + 2) !== 0) {
      throw unexpected('expected content header for class 60, got non content header frame instead');
    }
    const classId = bytes.readUInt16BE(start);
    if (classId !== basicClass) {
      throw unexpected(`expected content header for class 60, got one for class ${classId} instead`);
    }
    const size = bodySizeIn(bytes, start);
    if (size > largest) {
      const text = `message size ${bytes.readBigUInt64BE(start + 4)} is larger than configured max size ${largest}`;
      throw new AmqpError('PRECONDITION_FAILED', text);
    }
    this.properties = this.#reader.read(bytes, start + headerPrefix, end);
    this.#missing = size;
    this.body = nothing;
    return size === 0;
  }
}

const nothing = Buffer.alloc(0);

const unexpected = (text: string): AmqpError => new AmqpError('UNEXPECTED_FRAME', text);

/** A slice when it is most of what was read; else a copy, for a few bytes that wait would keep all of a read alive. */
function kept(bytes: Buffer, start: number, end: number): Buffer {
  const length = end - start;
  if (length * 2 >= bytes.buffer.byteLength) return bytes.subarray(start, end);
  const copy = Buffer.allocUnsafe(length);
  if (length > 64) bytes.copy(copy, 0, start, end);
  else for (let index = 0; index < length; index++) copy[index] = bytes[start + index] as number;
  return copy;
}
