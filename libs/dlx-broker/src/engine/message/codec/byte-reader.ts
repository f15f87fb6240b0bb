import { decodeText } from './text.js';

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
