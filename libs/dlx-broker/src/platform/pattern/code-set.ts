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

const between = (low: string, high: string): CodeSet => new CodeSet([codeRange(low.charCodeAt(0), high.charCodeAt(0))]);

export const not =
  (fits: Fits): Fits =>
  (code) =>
    !fits(code);

export const foldCase = (text: string): string => text.toLowerCase();

export const folded = (code: number): number => foldCase(String.fromCharCode(code)).charCodeAt(0);

export const raised = (code: number): number => String.fromCharCode(code).toUpperCase().charCodeAt(0);

/** One character, in either case if asked. */
export const character = (code: number, anyCase: boolean): Fits => {
  if (!anyCase) return (other) => other === code;
  const same = folded(code);
  return (other) => other === code || folded(other) === same;
};

export const lineEnd = CodeSet.of('\n');
const digit = between('0', '9');
const lower = between('a', 'z');
const upper = between('A', 'Z');
const letter = CodeSet.union(lower, upper);
const alphanumeric = CodeSet.union(letter, digit);
export const word = CodeSet.union(alphanumeric, CodeSet.of('_'));
const space = CodeSet.of(' \t\n\v\f\r');
const blank = CodeSet.of(' \t\u00a0');
const lineBreak = CodeSet.of('\n\v\f\r\u0085\u2028\u2029');

/** What a backslash and a letter stand for. */
export const classes: ReadonlyMap<string, CodeSet> = new Map([
  ['d', digit],
  ['D', digit.inverse],
  ['w', word],
  ['W', word.inverse],
  ['s', space],
  ['S', space.inverse],
  ['h', blank],
  ['H', blank.inverse],
  ['v', lineBreak],
  ['V', lineBreak.inverse],
  ['N', lineEnd.inverse],
]);

/** `[:alpha:]` and the like. */
export const posixClasses: ReadonlyMap<string, CodeSet> = new Map([
  ['alpha', letter],
  ['digit', digit],
  ['alnum', alphanumeric],
  ['lower', lower],
  ['upper', upper],
  ['space', space],
  ['blank', CodeSet.of(' \t')],
  ['punct', CodeSet.of('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~')],
  ['graph', between('!', '~')],
  ['print', between(' ', '~')],
  ['cntrl', CodeSet.union(between('\0', '\x1f'), CodeSet.of('\x7f'))],
  ['xdigit', CodeSet.union(digit, between('a', 'f'), between('A', 'F'))],
  ['word', word],
  ['ascii', between('\0', '\x7f')],
]);

const properties = new Map<string, CodeSet>();

/** The characters with a property of Unicode, such as `Lu`. They are looked up once. @throws SyntaxError for an unknown property */
export function property(name: string): CodeSet {
  let found = properties.get(name);
  if (found === undefined) {
    const one = new RegExp(`^\\p{${name}}`, 'u');
    found = CodeSet.where((code) => one.test(String.fromCharCode(code)));
    properties.set(name, found);
  }
  return found;
}
