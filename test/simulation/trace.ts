/** How many of the last lines a trace keeps. */
const kept = 2_000;

/** Everything that happens in a world, in order, as one number: two runs with the same number did the same. */
export class Trace {
  /** The last lines, if the trace keeps any. */
  readonly lines: string[] = [];
  /** Lines so far. */
  count = 0;
  #one = 0x811c9dc5;
  #other = 0x9747b28c;

  /** @param keeps whether the last lines are kept, for reports */
  constructor(readonly keeps: boolean) {}

  get hash(): string {
    return `${(this.#one >>> 0).toString(16)}-${(this.#other >>> 0).toString(16)}-${this.count}`;
  }

  add(line: string): void {
    this.count++;
    for (let at = 0; at < line.length; at++) this.#mix(line.charCodeAt(at));
    this.#mix(10);
    this.remark(line);
  }

  /** Adds a line that is no part of the hash. */
  remark(line: string): void {
    if (!this.keeps) return;
    this.lines.push(line);
    if (this.lines.length > 2 * kept) this.lines.splice(0, kept);
  }

  /** Mixes bytes in. @returns a short number for them */
  bytes(bytes: Uint8Array): number {
    let sum = 0;
    for (let at = 0; at < bytes.length; at++) sum = (Math.imul(sum, 31) + (bytes[at] as number)) | 0;
    this.#mix(sum);
    return sum >>> 0;
  }

  /** Two different mixes of 32 bits each. */
  #mix(value: number): void {
    this.#one = Math.imul(this.#one ^ value, 0x01000193);
    this.#other = Math.imul(this.#other ^ value, 0x85ebca6b) ^ (this.#other >>> 13);
  }
}
