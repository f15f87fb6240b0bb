/** Writes AMQP's basic types, big-endian. */
export class Writer {
  readonly #parts: Buffer[] = [];
  #bits = 0;
  #bitCount = 0;

  octet(value: number): this {
    return this.#push(Buffer.from([value & 0xff]));
  }

  int8(value: number): this {
    const bytes = Buffer.alloc(1);
    bytes.writeInt8(value);
    return this.#push(bytes);
  }

  short(value: number): this {
    const bytes = Buffer.alloc(2);
    bytes.writeUInt16BE(value);
    return this.#push(bytes);
  }

  int16(value: number): this {
    const bytes = Buffer.alloc(2);
    bytes.writeInt16BE(value);
    return this.#push(bytes);
  }

  long(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return this.#push(bytes);
  }

  int32(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return this.#push(bytes);
  }

  int64(value: number | bigint): this {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(BigInt(value));
    return this.#push(bytes);
  }

  float(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatBE(value);
    return this.#push(bytes);
  }

  double(value: number): this {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(value);
    return this.#push(bytes);
  }

  shortstr(value: string): this {
    const bytes = Buffer.from(value);
    if (bytes.length > 255) throw new RangeError('a short string has at most 255 bytes');
    return this.octet(bytes.length).bytes(bytes);
  }

  longstr(value: string | Uint8Array): this {
    const bytes = Buffer.from(value);
    return this.long(bytes.length).bytes(bytes);
  }

  /** Consecutive bits share an octet, lowest first; any other value ends the run. */
  bit(value: boolean): this {
    if (value) this.#bits |= 1 << this.#bitCount;
    this.#bitCount += 1;
    return this;
  }

  bytes(value: Uint8Array): this {
    return this.#push(Buffer.from(value));
  }

  end(): Buffer {
    this.#flushBits();
    return Buffer.concat(this.#parts);
  }

  #push(bytes: Buffer): this {
    this.#flushBits();
    this.#parts.push(bytes);
    return this;
  }

  #flushBits(): void {
    if (this.#bitCount === 0) return;
    this.#parts.push(Buffer.from([this.#bits]));
    this.#bits = 0;
    this.#bitCount = 0;
  }
}

/** Reads what {@link Writer} writes. */
export class Reader {
  #offset = 0;
  #bits = 0;
  #bitsLeft = 0;

  constructor(readonly buffer: Buffer) {}

  get done(): boolean {
    return this.#offset >= this.buffer.length;
  }

  octet(): number {
    return this.buffer.readUInt8(this.#take(1));
  }

  int8(): number {
    return this.buffer.readInt8(this.#take(1));
  }

  short(): number {
    return this.buffer.readUInt16BE(this.#take(2));
  }

  int16(): number {
    return this.buffer.readInt16BE(this.#take(2));
  }

  long(): number {
    return this.buffer.readUInt32BE(this.#take(4));
  }

  int32(): number {
    return this.buffer.readInt32BE(this.#take(4));
  }

  /** A number while it is a safe integer, a bigint beyond. */
  int64(): number | bigint {
    const value = this.buffer.readBigInt64BE(this.#take(8));
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }

  float(): number {
    return this.buffer.readFloatBE(this.#take(4));
  }

  double(): number {
    return this.buffer.readDoubleBE(this.#take(8));
  }

  shortstr(): string {
    return this.bytes(this.octet()).toString();
  }

  longstr(): Buffer {
    return this.bytes(this.long());
  }

  bytes(length: number): Buffer {
    const start = this.#take(length);
    return this.buffer.subarray(start, start + length);
  }

  bit(): boolean {
    if (this.#bitsLeft === 0) {
      this.#bits = this.octet();
      this.#bitsLeft = 8;
    }
    const value = (this.#bits & 1) === 1;
    this.#bits >>= 1;
    this.#bitsLeft -= 1;
    return value;
  }

  #take(length: number): number {
    const start = this.#offset;
    this.#bitsLeft = 0;
    this.#offset += length;
    return start;
  }
}
