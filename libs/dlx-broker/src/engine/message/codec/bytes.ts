import { decodeText, encodeText, maxShortstrBytes } from './text.js';

/** Bytes that cannot be decoded as what they should be. */
export class Malformed extends Error {
  override readonly name: string = 'Malformed';
}

/** A field of a type that RabbitMQ does not know either. */
export class UnknownFieldType extends Error {
  override readonly name = 'UnknownFieldType';

  constructor(letter: number) {
    super(`field type ${letter} is unknown`);
  }
}

/** Reads AMQP's basic types from a part of a buffer, big-endian. @throws Malformed beyond its end */
export class ByteReader {
  bytes: Buffer;
  at: number;
  end: number;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  reset(bytes: Buffer, at: number, end: number): void {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  octet(): number {
    return this.bytes[this.take(1)] as number;
  }

  int8(): number {
    return (this.octet() << 24) >> 24;
  }

  short(): number {
    const at = this.take(2);
    return ((this.bytes[at] as number) << 8) | (this.bytes[at + 1] as number);
  }

  int16(): number {
    return (this.short() << 16) >> 16;
  }

  long(): number {
    return this.int32() >>> 0;
  }

  int32(): number {
    const { bytes } = this;
    const at = this.take(4);
    return (
      ((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number)
    );
  }

  /** Unsigned: a number while it is a safe integer, a bigint beyond. */
  longlong(): number | bigint {
    const high = this.long();
    const low = this.long();
    if (high < 0x200000) return high * 0x1_0000_0000 + low;
    return (BigInt(high) << 32n) | BigInt(low);
  }

  /** Signed: a number while it is a safe integer, a bigint beyond. */
  int64(): number | bigint {
    const high = this.int32();
    const low = this.long();
    if (high >= -0x200000 && high < 0x200000) {
      const value = high * 0x1_0000_0000 + low;
      if (value >= Number.MIN_SAFE_INTEGER) return value;
    }
    return (BigInt(high) << 32n) | BigInt(low);
  }

  float(): number {
    return this.bytes.readFloatBE(this.take(4));
  }

  double(): number {
    return this.bytes.readDoubleBE(this.take(8));
  }

  /** Any bytes, see {@link decodeText}. */
  shortstr(): string {
    return this.text(this.octet());
  }

  longstr(): string {
    return this.text(this.long());
  }

  /** A copy, because the buffer of a socket is used again after the read. */
  longbytes(): Uint8Array {
    const length = this.long();
    const at = this.take(length);
    return Uint8Array.prototype.slice.call(this.bytes, at, at + length);
  }

  text(length: number): string {
    const at = this.take(length);
    return decodeText(this.bytes, at, at + length);
  }

  /** Skips bytes. @returns where they begin */
  take(length: number): number {
    const { at } = this;
    if (length > this.end - at) throw new Malformed('too short');
    this.at = at + length;
    return at;
  }

  /** @throws Malformed unless all bytes have been read */
  finish(): void {
    if (this.at !== this.end) throw new Malformed('too long');
  }
}

/** Writes AMQP's basic types into a buffer that grows, big-endian. */
export class ByteWriter {
  protected bytes: Buffer;
  protected at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** A copy of all bytes so far. */
  get written(): Buffer {
    return Buffer.from(this.bytes.subarray(0, this.at));
  }

  octet(value: number): void {
    if (this.at + 1 > this.bytes.length) this.grow(1);
    this.bytes[this.at++] = value;
  }

  short(value: number): void {
    if (this.at + 2 > this.bytes.length) this.grow(2);
    const { bytes } = this;
    bytes[this.at++] = value >>> 8;
    bytes[this.at++] = value;
  }

  long(value: number): void {
    if (this.at + 4 > this.bytes.length) this.grow(4);
    const { bytes } = this;
    bytes[this.at++] = value >>> 24;
    bytes[this.at++] = value >>> 16;
    bytes[this.at++] = value >>> 8;
    bytes[this.at++] = value;
  }

  /** Signed or unsigned: the bytes are the same. */
  longlong(value: number | bigint): void {
    if (typeof value === 'number') {
      this.long(Math.floor(value / 0x1_0000_0000));
      this.long(value);
    } else {
      this.long(Number(BigInt.asUintN(32, value >> 32n)));
      this.long(Number(BigInt.asUintN(32, value)));
    }
  }

  float(value: number): void {
    if (this.at + 4 > this.bytes.length) this.grow(4);
    this.at = this.bytes.writeFloatBE(value, this.at);
  }

  double(value: number): void {
    if (this.at + 8 > this.bytes.length) this.grow(8);
    this.at = this.bytes.writeDoubleBE(value, this.at);
  }

  /** Writes a text of up to 255 bytes. A longer one is cut and ends with dots, as RabbitMQ cuts its error texts. */
  shortstr(text: string): void {
    const { length } = text;
    if (this.at + 1 + length > this.bytes.length) this.grow(1 + length);
    const { bytes } = this;
    const start = this.at;
    if (length > maxShortstrBytes) return this.#shorten(encodeText(text));
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code > 127) return this.#shorten(encodeText(text));
      bytes[start + 1 + index] = code;
    }
    bytes[start] = length;
    this.at = start + 1 + length;
  }

  longstr(text: string): void {
    const { length } = text;
    // ASCII has as many bytes as characters and is written in place. Any other character ends this loop.
    if (this.at + 4 + length > this.bytes.length) this.grow(4 + length);
    const { bytes } = this;
    const start = this.at + 4;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code > 127) return this.longbytes(encodeText(text));
      bytes[start + index] = code;
    }
    this.long(length);
    this.at = start + length;
  }

  longbytes(value: Uint8Array): void {
    this.long(value.length);
    this.raw(value, 0, value.length);
  }

  raw(value: Uint8Array, from: number, to: number): void {
    const length = to - from;
    if (this.at + length > this.bytes.length) this.grow(length);
    const { bytes } = this;
    if (length < 48) for (let index = from; index < to; index++) bytes[this.at++] = value[index] as number;
    else {
      bytes.set(from === 0 && to === value.length ? value : value.subarray(from, to), this.at);
      this.at += length;
    }
  }

  /** Leaves room for a length. @returns the argument for {@link closeLength}, which writes it */
  openLength(): number {
    this.long(0);
    return this.offset();
  }

  closeLength(opened: number): void {
    const start = this.position(opened);
    const length = this.at - start;
    this.bytes.writeUInt32BE(length, start - 4);
  }

  protected offset(): number {
    return this.at;
  }

  protected position(offset: number): number {
    return offset;
  }

  /** Makes room for this many more bytes. */
  protected grow(length: number): void {
    const bytes = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.at + length));
    this.bytes.copy(bytes, 0, 0, this.at);
    this.bytes = bytes;
  }

  #shorten(bytes: Buffer): void {
    if (bytes.length <= maxShortstrBytes) {
      this.octet(bytes.length);
      return this.raw(bytes, 0, bytes.length);
    }
    this.octet(maxShortstrBytes);
    this.raw(bytes, 0, maxShortstrBytes - 3);
    this.raw(Buffer.from('...'), 0, 3);
  }
}
