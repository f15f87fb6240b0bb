import * as zlib from 'node:zlib';
import { keptCopy } from '../../engine/message/index.js';

/** A lone surrogate, which UTF-8 cannot encode. */
const loneSurrogate = /\p{Surrogate}/u;

/** A buffer that grows. Integers are big-endian, or varints: seven bits a byte, the lowest first, up to 2^53. */
export class ByteSink {
  bytes: Buffer;
  at = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size);
  }

  /** Makes room for this many more bytes. */
  reserve(length: number): void {
    if (this.at + length <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.at + length));
    this.bytes.copy(grown, 0, 0, this.at);
    this.bytes = grown;
  }

  octet(value: number): void {
    this.reserve(1);
    this.bytes[this.at++] = value;
  }

  varint(value: number): void {
    this.reserve(8);
    const { bytes } = this;
    let rest = value;
    while (rest > 0x7fff_ffff) {
      bytes[this.at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    while (rest > 0x7f) {
      bytes[this.at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[this.at++] = rest;
  }

  double(value: number): void {
    this.reserve(8);
    this.at = this.bytes.writeDoubleBE(value, this.at);
  }

  int64(value: bigint): void {
    this.reserve(8);
    this.at = this.bytes.writeBigInt64BE(value, this.at);
  }

  /** Writes bytes with their length in front. */
  octets(value: Uint8Array): void {
    this.varint(value.length);
    this.raw(value);
  }

  raw(value: Uint8Array): void {
    this.reserve(value.length);
    this.bytes.set(value, this.at);
    this.at += value.length;
  }

  /** Appends the bytes of another sink. */
  from({ bytes, at: length }: ByteSink): void {
    this.reserve(length);
    // For a few bytes a call costs more than a loop.
    if (length < 64) for (let index = 0; index < length; index++) this.bytes[this.at + index] = bytes[index] as number;
    else bytes.copy(this.bytes, this.at, 0, length);
    this.at += length;
  }

  /** Writes a text with twice its length in bytes in front, plus 1 for UTF-16, which is used for texts with lone surrogates. */
  text(value: string): void {
    const { length } = value;
    if (length < 64 && this.#ascii(value, length)) return;
    if (loneSurrogate.test(value)) {
      this.varint(length * 4 + 1);
      this.reserve(length * 2);
      this.at += this.bytes.write(value, this.at, 'utf16le');
      return;
    }
    const size = Buffer.byteLength(value);
    this.varint(size * 2);
    this.reserve(size);
    this.at += this.bytes.write(value, this.at);
  }

  #ascii(value: string, length: number): boolean {
    this.reserve(length + 1);
    const { bytes, at } = this;
    bytes[at] = length * 2;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return false;
      bytes[at + 1 + index] = code;
    }
    this.at = at + 1 + length;
    return true;
  }
}

/** Reads what {@link ByteSink} wrote. The CRC was checked before, so nothing is checked here. */
export class ByteSource {
  constructor(
    public bytes: Buffer,
    public at = 0,
  ) {}

  octet(): number {
    return this.bytes[this.at++] as number;
  }

  varint(): number {
    const { bytes } = this;
    let octet = bytes[this.at++] as number;
    if (octet < 0x80) return octet;
    let value = octet & 0x7f;
    let factor = 0x80;
    do {
      octet = bytes[this.at++] as number;
      value += (octet & 0x7f) * factor;
      factor *= 0x80;
    } while (octet >= 0x80);
    return value;
  }

  double(): number {
    const value = this.bytes.readDoubleBE(this.at);
    this.at += 8;
    return value;
  }

  int64(): bigint {
    const value = this.bytes.readBigInt64BE(this.at);
    this.at += 8;
    return value;
  }

  /** Reads bytes with their length in front. @returns a copy */
  octets(): Buffer {
    const end = this.varint() + this.at;
    const value = keptCopy(this.bytes, this.at, end);
    this.at = end;
    return value;
  }

  text(): string {
    const length = this.varint();
    const start = this.at;
    this.at += Math.floor(length / 2);
    return this.bytes.toString(length % 2 === 0 ? 'utf8' : 'utf16le', start, this.at);
  }
}

/** From this many bytes on, a call of the library is faster than the loop. */
const minForLibrary = 48;

const table = new Uint32Array(256).map((_, index) => {
  let crc = index;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0xedb88320;
  return crc >>> 0;
});

/** Undefined before Node 20.15. */
const native: ((bytes: Uint8Array, seed: number) => number) | undefined = zlib.crc32;

/** The CRC-32 of a part of the bytes, as zlib computes it. @param seed the CRC of the bytes before, or a salt */
export function crc32(bytes: Uint8Array, start: number, end: number, seed: number): number {
  if (end - start >= minForLibrary && native !== undefined) {
    return native(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), seed);
  }
  let crc = ~seed;
  for (let at = start; at < end; at++) crc = (crc >>> 8) ^ (table[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return ~crc >>> 0;
}
