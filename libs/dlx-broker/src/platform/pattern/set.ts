import { folded, not, posixClasses, raised } from './characters.js';
import { codeRange, CodeSet } from './code-set.js';
import { escapedCode } from './escapes.js';
import type { Fits } from './matching.js';
import type { Reader } from './reader.js';

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
