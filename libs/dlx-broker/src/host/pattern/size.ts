import type { Reader } from './reader.js';

/** How often an atom may match in a row; `Infinity` has no limit. */
export interface Times {
  readonly min: number;
  readonly max: number;
}

/** The most bytes of a compiled pattern, as RabbitMQ's engine (PCRE 8) counts them. */
export const largestSize = 65_536;

/** The most characters of a pattern. Comments and the characters of a class have no size of their own. */
export const longestPattern = 1_000_000;

/** The bytes that RabbitMQ's engine needs for the parts of a pattern. It was asked for the size of each. */
export const sizeOf = {
  pattern: 7,
  /** `.`, `\d`, `^` and the like. */
  type: 1,
  /** One byte of a character in UTF-8. */
  byte: 2,
  class: 33,
  property: 3,
  reference: 3,
  group: 6,
  /** What a group that captures needs besides. */
  capture: 2,
  /** Each alternative but the first. */
  alternative: 3,
  /** Each alternative of a look-behind. */
  lookBehind: 3,
} as const;

/** Counts the size of a pattern while it is read, so that one that is too large takes no memory. */
export class CompiledSize {
  readonly #input: Reader;
  #bytes: number = sizeOf.pattern;

  constructor(input: Reader) {
    this.#input = input;
    if (input.text.length > longestPattern) throw this.#tooLarge();
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws PatternError when the pattern is too large, with RabbitMQ's text: its engine says so at the end of the pattern */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > largestSize) throw this.#tooLarge();
  }

  /** @param code a UTF-16 unit. Two that make one character have four bytes together. */
  addCharacter(code: number): void {
    const isHalf = code >= 0xd800 && code < 0xe000;
    this.add(sizeOf.byte * (code < 0x80 ? 1 : code < 0x800 || isHalf ? 2 : 3));
  }

  /** Adds what a quantifier needs. @param before the bytes before the atom that is repeated */
  addRepetition(before: number, times: Times, isGroup: boolean): void {
    const once = this.#bytes - before;
    this.add(isGroup ? copiesOfGroup(once, times) : forCounter(once, times));
  }

  #tooLarge(): Error {
    return this.#input.fault('regular expression is too large', this.#input.text.length);
  }
}

/** A repeated group is compiled once for each time that is counted. */
function copiesOfGroup(once: number, { min, max }: Times): number {
  if (max <= 1 || (min === 0 && max === Infinity)) return min === 0 ? 1 : 0;
  const optional = max === Infinity || max === min ? 0 : (max - min) * (once + 7) - 6;
  return (min - 1) * once + optional;
}

/** A repeated character or class has counters. */
function forCounter(once: number, { min, max }: Times): number {
  const isCounted = min > 1 || (max > 1 && max !== Infinity);
  // A character has an even number of bytes, a class or a reference an odd one.
  if (once !== sizeOf.type && once % sizeOf.byte !== 0) return isCounted ? 5 : 1;
  const perType = once === sizeOf.type ? 1 : 0;
  if (!isCounted) return perType;
  const exactly = min > 1 ? 2 : 0;
  if (max === min) return perType + exactly;
  if (max === Infinity) return perType + exactly + 2;
  return perType + (min === 0 ? 2 : 4) + exactly;
}
