/** Seeded: the same seed makes the same inputs. */
export class Mutator {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number below `limit`. */
  below(limit: number): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  /** One to four frames in a row, damaged in some places, or in none. */
  mutate(corpus: readonly Buffer[]): Buffer {
    const frames = Array.from({ length: 1 + this.below(4) }, () => this.pick(corpus));
    let input = Buffer.concat(frames);
    for (let wounds = this.below(4); wounds > 0 && input.length > 0; wounds--) input = this.#wound(input);
    return input;
  }

  /** The same bytes in one to six pieces. */
  cut(input: Buffer): Buffer[] {
    const cuts = Array.from({ length: this.below(6) }, () => this.below(input.length + 1)).sort((a, b) => a - b);
    return [0, ...cuts].map((from, index) => input.subarray(from, cuts[index] ?? input.length));
  }

  #wound(input: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
    const at = this.below(input.length);
    switch (this.below(7)) {
      case 0:
        input[at] = this.below(256);
        return input;
      case 1:
        input[at] = (input[at] as number) ^ (1 << this.below(8));
        return input;
      case 2:
        return input.subarray(0, at);
      case 3: // lengths are what hurts most
        if (input.length >= 4) input.writeUInt32BE(this.pick(lengths), this.below(input.length - 3));
        return input;
      case 4: {
        const to = at + this.below(input.length - at + 1);
        return Buffer.concat([input.subarray(0, to), input.subarray(at)]);
      }
      case 5: {
        const to = at + this.below(Math.min(16, input.length - at + 1));
        return Buffer.concat([input.subarray(0, at), input.subarray(to)]);
      }
      default: // another type in a field table
        input[at] = this.pick(letters).charCodeAt(0);
        return input;
    }
  }
}

const lengths = [0, 1, 0x7f, 0xff, 0xffff, 0x1ffff, 0x20000, 0x7fffffff, 0x80000000, 0xffffffff];
const letters = [...'tbBsuIilLfdTDSxAFVZ'];
