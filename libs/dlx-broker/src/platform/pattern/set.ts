import { PatternError } from '../../engine/broker/index.js';
import { classes, codeRange, CodeSet, folded, not, posixClasses, property, raised } from './code-set.js';
import type { Fits } from './matching.js';

/** A text that is read from its beginning to its end. */
export class Reader {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get next(): string | undefined {
    return this.text[this.at];
  }

  /** The code of the next character, which has to be there. */
  takeCode(): number {
    return this.text.charCodeAt(this.at++);
  }

  take(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  takeMatch(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.at;
    const found = sticky.exec(this.text) ?? undefined;
    if (found !== undefined) this.at += found[0].length;
    return found;
  }

  fault(reason: string, position = this.at): PatternError {
    return new PatternError(reason, position);
  }
}

const controls: ReadonlyMap<string, number> = new Map([
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['f', 12],
  ['e', 27],
  ['a', 7],
]);

/** Reads what stands after a backslash: one character, or a class of them. */
export function escapedCode(input: Reader): number | CodeSet {
  const hexadecimal = input.takeMatch(/x(?:\{([0-9a-fA-F]{1,4})\}|([0-9a-fA-F]{0,2}))/y);
  if (hexadecimal !== undefined) return Number.parseInt(hexadecimal[1] ?? `0${hexadecimal[2]}`, 16);
  const octal = input.takeMatch(/[0-7]{1,3}/y);
  if (octal !== undefined) return octalCode(input, Number.parseInt(octal[0], 8));
  const named = input.takeMatch(/([pP])(?:\{(\^?)(\w+)\}|(\w))/y);
  if (named !== undefined) return propertyIn(input, named);
  const { next } = input;
  if (next === undefined) throw input.fault('\\ at end of pattern', input.text.length);
  input.at++;
  return classes.get(next) ?? controls.get(next) ?? next.charCodeAt(0);
}

function octalCode(input: Reader, code: number): number {
  if (code > 0o377) throw input.fault('octal value is greater than \\377 in 8-bit non-UTF-8 mode', input.at - 1);
  return code;
}

function propertyIn(input: Reader, [, letter, caret, long, short]: readonly (string | undefined)[]): CodeSet {
  try {
    const found = property(long ?? short ?? '');
    return (letter === 'p') === (caret !== '^') ? found : found.inverse;
  } catch {
    throw input.fault('unknown property name after \\P or \\p');
  }
}

/** Reads a character class after its opening bracket. It takes memory for different characters only, however long it is. */
export function readClass(input: Reader, anyCase: boolean): Fits {
  const isNegated = input.take('^');
  const parts = new Parts(anyCase);
  for (let first = true; first || input.next !== ']'; first = false) {
    if (input.next === undefined) {
      throw input.fault('missing terminating ] for character class', input.text.length);
    }
    readPart(input, parts, anyCase);
  }
  input.at++;
  return isNegated ? not(parts.fits) : parts.fits;
}

/** The parts of a class. */
class Parts {
  readonly #anyCase: boolean;
  readonly #ranges = new Set<number>();
  readonly #named = new Set<CodeSet>();
  /** Single characters that fit in either case, in lower case. */
  readonly #folded = new Set<number>();

  constructor(anyCase: boolean) {
    this.#anyCase = anyCase;
  }

  /** Adds one character, or a class. */
  add(part: number | CodeSet): void {
    if (typeof part !== 'number') this.#named.add(part);
    else if (this.#anyCase) this.#folded.add(folded(part));
    else this.#ranges.add(codeRange(part, part));
  }

  addRange(low: number, high: number): void {
    this.#ranges.add(codeRange(low, high));
  }

  get fits(): Fits {
    const named = [...this.#named].flatMap(({ ranges }) => ranges);
    if (!this.#anyCase) return new CodeSet([...this.#ranges, ...named]).fits;
    const inThisCase = new CodeSet(named);
    const ranges = new CodeSet(this.#ranges);
    const singles = new CodeSet([...this.#folded].map((code) => codeRange(code, code)));
    return (code) => {
      if (inThisCase.has(code) || ranges.has(code)) return true;
      const lower = folded(code);
      return singles.has(lower) || ranges.has(lower) || ranges.has(raised(code));
    };
  }
}

function readPart(input: Reader, parts: Parts, anyCase: boolean): void {
  const posix = input.next === '[' ? input.takeMatch(/\[:(\^?)([a-z]+):\]/y) : undefined;
  if (posix !== undefined) {
    // As in PCRE, `[:lower:]` and `[:upper:]` are all letters with `(?i)`.
    const isCase = anyCase && (posix[2] === 'lower' || posix[2] === 'upper');
    const named = posixClasses.get(isCase ? 'alpha' : posix[2]!);
    if (named === undefined) throw input.fault('unknown POSIX class name');
    return parts.add(posix[1] === '^' ? named.inverse : named);
  }
  const low = readCode(input);
  const isRange = typeof low === 'number' && input.next === '-' && (input.text[input.at + 1] ?? ']') !== ']';
  if (!isRange) return parts.add(low);
  input.at++;
  const high = readCode(input);
  if (typeof high !== 'number') {
    for (const part of [low, '-'.charCodeAt(0), high]) parts.add(part);
    return;
  }
  if (high < low) throw input.fault('range out of order in character class', input.at - 1);
  parts.addRange(low, high);
}

function readCode(input: Reader): number | CodeSet {
  if (!input.take('\\')) return input.takeCode();
  return input.take('b') ? 8 : escapedCode(input);
}
