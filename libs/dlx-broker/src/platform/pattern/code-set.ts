import type { Fits } from './matching.js';

/** The number of UTF-16 units. */
const units = 0x1_0000;
const latin = 256;

/** The codes from `first` to `last` as one number. Numbers of ranges are in the order of their first codes. */
export const codeRange = (first: number, last: number): number => first * units + last;

const firstOf = (range: number): number => Math.floor(range / units);

/**
 * A set of UTF-16 units. Whether a unit belongs to it costs the same for every set: one bit is read for Latin-1, and a binary search
 * finds the others.
 */
export class CodeSet {
  readonly #bits = new Uint8Array(latin / 8);
  /** First and last code of each range, in order. Ranges that touch are one. */
  readonly #bounds: Uint16Array;
  #inverse: CodeSet | undefined;

  /** @param ranges made by {@link codeRange}, in any order */
  constructor(ranges: Iterable<number>) {
    this.#bounds = merged(ranges);
    for (const [first, last] of this.#pairs())
      for (let code = first; code <= last && code < latin; code++) this.#bits[code >> 3]! |= 1 << (code & 7);
  }

  /** All codes of these characters. */
  static of(text: string): CodeSet {
    return new CodeSet(Array.from(text, (each) => codeRange(each.charCodeAt(0), each.charCodeAt(0))));
  }

  /** The codes for which a test is true. */
  static where(test: (code: number) => boolean): CodeSet {
    const found: number[] = [];
    for (let code = 0; code < units; code++) if (test(code)) found.push(codeRange(code, code));
    return new CodeSet(found);
  }

  static union(...sets: readonly CodeSet[]): CodeSet {
    return new CodeSet(sets.flatMap((set) => set.ranges));
  }

  get ranges(): readonly number[] {
    return [...this.#pairs()].map(([first, last]) => codeRange(first, last));
  }

  /** All other codes. */
  get inverse(): CodeSet {
    if (this.#inverse !== undefined) return this.#inverse;
    const gaps: number[] = [];
    let next = 0;
    for (const [first, last] of this.#pairs()) {
      if (first > next) gaps.push(codeRange(next, first - 1));
      next = last + 1;
    }
    if (next < units) gaps.push(codeRange(next, units - 1));
    return (this.#inverse = new CodeSet(gaps));
  }

  readonly fits: Fits = (code) => this.has(code);

  has(code: number): boolean {
    if (code < latin) return (this.#bits[code >> 3]! & (1 << (code & 7))) !== 0;
    const bounds = this.#bounds;
    let [low, high] = [0, bounds.length / 2];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (code > bounds[2 * middle + 1]!) low = middle + 1;
      else high = middle;
    }
    return 2 * low < bounds.length && code >= bounds[2 * low]!;
  }

  *#pairs(): Generator<readonly [first: number, last: number]> {
    for (let at = 0; at < this.#bounds.length; at += 2) yield [this.#bounds[at]!, this.#bounds[at + 1]!];
  }
}

function merged(ranges: Iterable<number>): Uint16Array {
  const bounds: number[] = [];
  for (const range of Float64Array.from(ranges).sort()) {
    const [first, last] = [firstOf(range), range % units];
    const end = bounds.at(-1);
    if (end !== undefined && first <= end + 1) bounds[bounds.length - 1] = Math.max(end, last);
    else bounds.push(first, last);
  }
  return Uint16Array.from(bounds);
}
