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
    const value = Buffer.from(this.bytes.subarray(this.at, end));
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
