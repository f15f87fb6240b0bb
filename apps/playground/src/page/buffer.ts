const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** As much of Node's Buffer as the engine uses: a ninth of the code of a whole one. */
class Bytes extends Uint8Array {
  static alloc = (length: number): Bytes => new Bytes(length);
  static allocUnsafe = Bytes.alloc;
  static allocUnsafeSlow = Bytes.alloc;
  static override from = ((value: string | Iterable<number>): Bytes =>
    new Bytes(typeof value === 'string' ? encoder.encode(value) : [...value])) as never;
  static byteLength = (text: string): number => encoder.encode(text).length;

  static concat(parts: readonly Bytes[]): Bytes {
    const all = new Bytes(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) at += part.copy(all, at);
    return all;
  }

  get #view(): DataView {
    return new DataView(this.buffer, this.byteOffset, this.length);
  }

  override toString(encoding = 'utf8', start = 0, end = this.length): string {
    const part = this.subarray(start, end);
    return encoding === 'latin1'
      ? Array.from(part, (unit) => String.fromCharCode(unit)).join('')
      : decoder.decode(part);
  }

  copy(target: Bytes, to: number, start = 0, end = this.length): number {
    const part = this.subarray(start, end);
    target.set(part, to);
    return part.length;
  }

  compare(other: Bytes): number {
    const at = this.findIndex((byte, index) => byte !== other[index]);
    if (at < 0) return Math.sign(this.length - other.length);
    return (this[at] ?? 0) < (other[at] ?? -1) ? -1 : 1;
  }

  write(text: string, at = 0): number {
    return encoder.encodeInto(text, this.subarray(at)).written;
  }

  readUInt32BE(at: number): number {
    return this.#view.getUint32(at);
  }

  readFloatBE(at: number): number {
    return this.#view.getFloat32(at);
  }

  readDoubleBE(at: number): number {
    return this.#view.getFloat64(at);
  }

  writeUInt32BE(value: number, at: number): number {
    this.#view.setUint32(at, value);
    return at + 4;
  }

  writeFloatBE(value: number, at: number): number {
    this.#view.setFloat32(at, value);
    return at + 4;
  }

  writeDoubleBE(value: number, at: number): number {
    this.#view.setFloat64(at, value);
    return at + 8;
  }
}

Object.assign(globalThis, { Buffer: Bytes });
