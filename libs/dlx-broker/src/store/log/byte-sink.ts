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
