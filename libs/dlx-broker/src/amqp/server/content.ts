import type { Buffer } from 'node:buffer';
import { AmqpError, tooLarge } from '../../engine/broker/index.js';
import { basicClass, keptCopy, noBytes } from '../../engine/message/index.js';
import {
  bodySizeIn,
  frameError,
  frameTypes,
  headerPrefix,
  isMostOfBuffer,
  PropertiesReader,
  type ReceivedProperties,
  UnfinishedBody,
} from '../wire/index.js';

/** A publish whose content is still to come. */
export interface Publishing {
  readonly exchange: string;
  readonly routingKey: string;
  readonly mandatory: boolean;
  readonly immediate: boolean;
}

/** What a channel decides about a message that is still to come. */
export interface ContentRules {
  /** The largest body, in bytes. */
  readonly maxBodySize: number;
  /**
   * The error with which the message would be refused now. Called once, before the first part of the body is stored.
   * The body of a message to be refused is not stored; the error is thrown at its last byte.
   */
  refusal(publishing: Publishing): AmqpError | undefined;
  /**
   * Counts bytes of unfinished messages; a negative number uncounts them. @throws AmqpError 506 when they are too
   * many
   */
  countUnfinished(bytes: number): void;
}

/**
 * Puts a message together from its header and any number of body frames (rules T5, T6). Its memory grows with the bytes
 * received, not with the size announced or the number of frames.
 */
export class Content {
  publishing: Publishing | undefined;
  properties: ReceivedProperties | undefined;
  body: Buffer = noBytes;
  readonly #reader = new PropertiesReader();
  #missing = 0;
  #unfinished: UnfinishedBody | undefined;
  /** The error to throw at the last byte of the message; its body is not stored. */
  #refusal: AmqpError | undefined;
  /** Bytes of the message that are counted as unfinished. */
  #counted = 0;

  constructor(readonly rules: ContentRules) {}

  /** Whether a message has begun, so that only its frames may come. */
  get isAwaited(): boolean {
    return this.publishing !== undefined;
  }

  begin(publishing: Publishing): void {
    this.publishing = publishing;
    this.properties = undefined;
  }

  /** The error with which the message will be refused; its body is not stored. */
  get refusal(): AmqpError | undefined {
    return this.#refusal;
  }

  /** Forgets a message that was begun. */
  clear(): void {
    this.publishing = undefined;
    this.#refusal = undefined;
    this.body = noBytes;
    this.#drop();
  }

  /**
   * The next frame of the message.
   * @returns whether the message is complete
   * @throws AmqpError 505, 501, 541, 406 when it is too large (rule K7), 506 when too much is unfinished; or, with
   *   the last frame, the error of {@link ContentRules.refusal}
   */
  frame(type: number, bytes: Buffer, start: number, end: number): boolean {
    if (this.properties === undefined) return this.#header(type, bytes, start, end);
    if (type !== frameTypes.body) throw unexpected('expected content body, got non content body frame instead');
    const length = end - start;
    const missing = this.#missing;
    if (length > missing) throw frameError(type, bytes.subarray(start, end), '{body_too_large}');
    if (length === 0) return false;
    this.#missing = missing - length;
    if (this.#refusal !== undefined) return this.#refuse();
    const unfinished = this.#unfinished;
    if (unfinished !== undefined) this.#add(unfinished, bytes, start, end);
    else if (this.#missing === 0) this.body = ownedBytes(bytes, start, end);
    else this.#first(length + this.#missing, bytes, start, end);
    return this.#missing === 0;
  }

  /** The first part of a body that comes in several frames. */
  #first(size: number, bytes: Buffer, start: number, end: number): void {
    this.#refusal = this.rules.refusal(this.publishing as Publishing);
    if (this.#refusal !== undefined) return;
    this.#add((this.#unfinished = new UnfinishedBody(size)), bytes, start, end);
  }

  #add(unfinished: UnfinishedBody, bytes: Buffer, start: number, end: number): void {
    this.#count(end - start);
    unfinished.add(bytes, start, end);
    if (this.#missing > 0) return;
    this.body = unfinished.whole();
    this.#drop();
  }

  #count(bytes: number): void {
    this.rules.countUnfinished(bytes);
    this.#counted += bytes;
  }

  /** @throws AmqpError when nothing is missing any more */
  #refuse(): boolean {
    if (this.#missing === 0) throw this.#refusal as AmqpError;
    return false;
  }

  #drop(): void {
    this.#unfinished = undefined;
    if (this.#counted === 0) return;
    this.rules.countUnfinished(-this.#counted);
    this.#counted = 0;
  }

  #header(type: number, bytes: Buffer, start: number, end: number): boolean {
    const { maxBodySize } = this.rules;
    // As in RabbitMQ, a frame with a weight other than 0 is no content header.
    if (type !== frameTypes.header || bytes.readUInt16BE(start + 2) !== 0) {
      throw unexpected(`expected content header for class ${basicClass}, got non content header frame instead`);
    }
    const classId = bytes.readUInt16BE(start);
    if (classId !== basicClass) {
      throw unexpected(`expected content header for class ${basicClass}, got one for class ${classId} instead`);
    }
    const size = bodySizeIn(bytes, start);
    if (size > maxBodySize) throw tooLarge(bytes.readBigUInt64BE(start + 4), maxBodySize);
    if (size > 0 && end - start > uncountedHeader) this.#count(end - start);
    this.properties = this.#reader.read(bytes, start + headerPrefix, end);
    this.#missing = size;
    this.body = noBytes;
    return size === 0;
  }
}

/** Content headers up to this size are not counted while their body is to come, in bytes. */
const uncountedHeader = 4_096;

const unexpected = (text: string): AmqpError => new AmqpError('UNEXPECTED_FRAME', text);

/** A slice if the bytes are most of their buffer; else a copy, because a slice keeps the whole buffer in memory. */
const ownedBytes = (bytes: Buffer, start: number, end: number): Buffer =>
  isMostOfBuffer(bytes, end - start) ? bytes.subarray(start, end) : keptCopy(bytes, start, end);
