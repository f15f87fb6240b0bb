import { PatternError } from '../../broker/index.js';
import { among, character, classes, foldCase, lineEnd, not, posixClasses, range, some, word } from './characters.js';
import { anyOf, assertion, atomic, backreference, capture, characters, lookAhead, lookBehind } from './matching.js';
import { repeat, repeatCharacter, sequence } from './matching.js';
import type { Fits, Piece } from './matching.js';
import { type Atom, Beginning } from './beginning.js';

/** A pattern that was parsed. */
export interface Parsed {
  readonly piece: Piece;
  /** The text with which all names begin that match. Undefined when the pattern is not known to match at the start of a name only. */
  readonly start: string | undefined;
}

/** The letters of `(?imsx)`. */
interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly x: boolean;
}

const controls: ReadonlyMap<string, number> = new Map([
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['f', 12],
  ['e', 27],
  ['a', 7],
]);

const isWordAt = (text: string, at: number): boolean => at >= 0 && at < text.length && word(text.charCodeAt(at));
const atWordEdge = (text: string, at: number): boolean => isWordAt(text, at - 1) !== isWordAt(text, at);
const atStart = (_: string, at: number): boolean => at === 0;
const atEnd = (text: string, at: number): boolean => at === text.length;
const atLastLine = (text: string, at: number): boolean =>
  atEnd(text, at) || (at === text.length - 1 && text[at] === '\n');

const assertions: ReadonlyMap<string, (text: string, at: number) => boolean> = new Map([
  ['b', atWordEdge],
  ['B', (text: string, at: number) => !atWordEdge(text, at)],
  ['z', atEnd],
  ['Z', atLastLine],
]);

/** Parses regular expressions of PCRE, as far as patterns of names need them. */
export class Parser {
  readonly #pattern: string;
  #at = 0;
  #depth = 0;
  #groupCount = 0;
  readonly #groupNames = new Map<string, number>();
  /** The highest number of a group that the pattern refers to. The group may stand behind the reference. */
  #highestReference = 0;
  /** The end of the quotation that was begun last. */
  #quotedUntil = 0;
  /** The beginning of each alternative of the whole pattern. */
  readonly #beginnings: Beginning[] = [];
  #flags: Flags = { i: false, m: false, s: false, x: false };

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  parse(): Parsed {
    const piece = this.#alternatives();
    if (this.#at < this.#pattern.length) throw this.#fault('unmatched parentheses');
    if (this.#highestReference > this.#groupCount) throw this.#fault('reference to non-existent subpattern');
    const [first, ...others] = this.#beginnings;
    return { piece, start: others.length === 0 ? first?.text : undefined };
  }

  /** Parses up to the end or a closing parenthesis. Flags that are set inside end there. */
  #alternatives(): Piece {
    if (++this.#depth > 100) throw this.#fault('parentheses are too deeply nested');
    const flags = this.#flags;
    const branches = [this.#branch()];
    while (this.#take('|')) branches.push(this.#branch());
    this.#flags = flags;
    this.#depth--;
    return anyOf(branches);
  }

  #branch(): Piece {
    const pieces: Piece[] = [];
    const beginning = new Beginning();
    if (this.#depth === 1) this.#beginnings.push(beginning);
    let run: Fits[] = [];
    const endRun = (): void => {
      if (run.length > 0) pieces.push(characters(run));
      run = [];
    };
    for (this.#skip(); !this.#ended(); this.#skip()) {
      const atom = this.#quantified(this.#atom());
      if (atom === undefined) continue;
      beginning.add(atom);
      if ('fits' in atom) {
        run.push(atom.fits);
        continue;
      }
      endRun();
      pieces.push(atom.piece);
    }
    endRun();
    return pieces.length === 0 ? assertion(() => true) : sequence(pieces);
  }

  /** Undefined for a part that matches nothing, such as `(?i)`. */
  #atom(): Atom | undefined {
    const { i, m, s } = this.#flags;
    if (this.#isQuoted) return one(this.#pattern.charCodeAt(this.#at++), i);
    if (this.#times() !== undefined) throw this.#fault('nothing to repeat', this.#at - 1);
    const next = this.#pattern[this.#at++]!;
    switch (next) {
      case '.':
        return { fits: s ? () => true : not(lineEnd) };
      case '^':
        return m ? holds((text, at) => at === 0 || text[at - 1] === '\n') : start;
      case '$':
        return holds(m ? (text, at) => atEnd(text, at) || text[at] === '\n' : atLastLine);
      case '[':
        return { fits: this.#set() };
      case '(':
        return this.#group();
      case '\\':
        return this.#escape();
      default:
        return one(next.charCodeAt(0), i);
    }
  }

  #quantified<Given extends Atom | undefined>(atom: Given): Atom | Given {
    this.#skip();
    const times = this.#times();
    if (times === undefined) return atom;
    if (atom === undefined || ('piece' in atom && atom.isAssertion))
      throw this.#fault('nothing to repeat', this.#at - 1);
    const greedy = !this.#take('?');
    const possessive = greedy && this.#take('+');
    const all = { ...times, greedy };
    const piece = 'fits' in atom ? repeatCharacter(atom.fits, all) : repeat(atom.piece, all);
    return { piece: possessive ? atomic(piece) : piece };
  }

  #times(): { min: number; max: number } | undefined {
    if (this.#isQuoted) return undefined;
    if (this.#take('*')) return { min: 0, max: Infinity };
    if (this.#take('+')) return { min: 1, max: Infinity };
    if (this.#take('?')) return { min: 0, max: 1 };
    const counted = this.#takeMatch(/\{(\d{1,5})(,?)(\d{0,5})\}/y);
    if (counted === undefined) return undefined;
    const min = Number(counted[1]);
    const max = counted[3] !== '' ? Number(counted[3]) : counted[2] === '' ? min : Infinity;
    if (max < min) throw this.#fault('numbers out of order in {} quantifier', this.#at - 1);
    return { min, max };
  }

  #group(): Atom | undefined {
    if (this.#takeMatch(/\*[A-Za-z]\w*/y) !== undefined) throw this.#fault('(*VERB) not recognized or malformed');
    if (this.#take('?:')) return this.#closed();
    if (this.#take('?>')) return this.#closed(atomic);
    if (this.#take('?=')) return this.#closed((piece) => lookAhead(piece, true));
    if (this.#take('?!')) return this.#closed((piece) => lookAhead(piece, false));
    if (this.#take('?<=')) return this.#closed((piece) => lookBehind(piece, true));
    if (this.#take('?<!')) return this.#closed((piece) => lookBehind(piece, false));
    const flags = this.#takeMatch(/\?([imsx]*)(?:-([imsx]*))?([:)])/y);
    if (flags !== undefined) return this.#withFlags(flags[1] ?? '', flags[2] ?? '', flags[3] === ')');
    const named = this.#takeMatch(/\?(?:P?<|')([A-Za-z_]\w*)[>']/y);
    if (named === undefined && this.#pattern[this.#at] === '?') {
      throw this.#fault('unrecognized character after (? or (?-', this.#at + 1);
    }
    const number = ++this.#groupCount;
    if (named !== undefined) this.#groupNames.set(named[1]!, number);
    return this.#closed((piece) => capture(number, piece));
  }

  #withFlags(on: string, off: string, untilGroupEnds: boolean): Atom | undefined {
    const before = this.#flags;
    const flag = (name: keyof Flags): boolean => (before[name] || on.includes(name)) && !off.includes(name);
    this.#flags = { i: flag('i'), m: flag('m'), s: flag('s'), x: flag('x') };
    if (untilGroupEnds) return undefined;
    const group = this.#closed();
    this.#flags = before;
    return group;
  }

  #closed(wrap: (piece: Piece) => Piece = (piece) => piece): Atom {
    const piece = this.#alternatives();
    if (!this.#take(')')) throw this.#fault('missing )');
    return { piece: wrap(piece) };
  }

  #escape(): Atom | undefined {
    const { i } = this.#flags;
    const holdsHere = assertions.get(this.#pattern[this.#at] ?? '');
    if (holdsHere !== undefined) {
      this.#at++;
      return holds(holdsHere);
    }
    if (this.#take('A')) return start;
    if (this.#take('Q')) return this.#quoted();
    const number = this.#reference();
    if (number !== undefined) return { piece: backreference(number, i ? foldCase : (text) => text) };
    const code = this.#escapedCode();
    return typeof code === 'number' ? one(code, i) : { fits: code };
  }

  /** Begins a quotation: its characters have no meaning but themselves. A quantifier after it is that of its last character. */
  #quoted(): Atom | undefined {
    const end = this.#pattern.indexOf('\\E', this.#at);
    this.#quotedUntil = end < 0 ? this.#pattern.length : end;
    return this.#isQuoted ? this.#atom() : undefined;
  }

  get #isQuoted(): boolean {
    return this.#at < this.#quotedUntil;
  }

  /** The number of the group to which `\1` or `\k<name>` refers. A number from 8 on without so many groups before it is octal. */
  #reference(): number | undefined {
    const named = this.#takeMatch(/k(?:\{(\w+)\}|<(\w+)>|'(\w+)')/y);
    if (named !== undefined) {
      const number = this.#groupNames.get(named[1] ?? named[2] ?? named[3] ?? '');
      if (number === undefined) throw this.#fault('reference to non-existent subpattern');
      return number;
    }
    const before = this.#at;
    const number = Number(this.#takeMatch(/[1-9]\d*/y)?.[0]);
    if (number < 8 || number <= this.#groupCount) {
      this.#highestReference = Math.max(this.#highestReference, number);
      return number;
    }
    this.#at = before;
    return undefined;
  }

  /** After the backslash: one character, or a class of them. */
  #escapedCode(): number | Fits {
    const hexadecimal = this.#takeMatch(/x(?:\{([0-9a-fA-F]{1,4})\}|([0-9a-fA-F]{0,2}))/y);
    if (hexadecimal !== undefined) return Number.parseInt(hexadecimal[1] ?? `0${hexadecimal[2]}`, 16);
    const octal = this.#takeMatch(/[0-7]{1,3}/y);
    if (octal !== undefined) return this.#octal(Number.parseInt(octal[0], 8));
    const property = this.#takeMatch(/([pP])(?:\{(\^?)(\w+)\}|(\w))/y);
    if (property !== undefined) return this.#property(property);
    const next = this.#pattern[this.#at++];
    if (next === undefined) throw this.#fault('\\ at end of pattern', this.#pattern.length);
    return classes.get(next) ?? controls.get(next) ?? next.charCodeAt(0);
  }

  #octal(code: number): number {
    if (code > 0o377) throw this.#fault('octal value is greater than \\377 in 8-bit non-UTF-8 mode', this.#at - 1);
    return code;
  }

  #property([, letter, caret, long, short]: readonly (string | undefined)[]): Fits {
    try {
      const property = new RegExp(`^\\p{${long ?? short}}`, 'u'); // for one character at a time
      const wanted = (letter === 'p') === (caret !== '^');
      return (code) => property.test(String.fromCharCode(code)) === wanted;
    } catch {
      throw this.#fault('unknown property name after \\P or \\p');
    }
  }

  #set(): Fits {
    const negated = this.#take('^');
    const parts: Fits[] = [];
    for (let first = true; first || this.#pattern[this.#at] !== ']'; first = false) {
      if (this.#at >= this.#pattern.length) {
        throw this.#fault('missing terminating ] for character class', this.#pattern.length);
      }
      parts.push(this.#setPart());
    }
    this.#at++;
    const fits = some(...parts);
    return negated ? not(fits) : fits;
  }

  #setPart(): Fits {
    const posix = this.#takeMatch(/\[:(\^?)([a-z]+):\]/y);
    if (posix !== undefined) {
      const named = posixClasses.get(posix[2]!);
      if (named === undefined) throw this.#fault('unknown POSIX class name');
      return posix[1] === '^' ? not(named) : named;
    }
    const low = this.#setCode();
    if (typeof low !== 'number') return low;
    const isRange = this.#pattern[this.#at] === '-' && (this.#pattern[this.#at + 1] ?? ']') !== ']';
    if (!isRange) return character(low, this.#flags.i);
    this.#at++;
    const high = this.#setCode();
    if (typeof high !== 'number') return some(character(low, this.#flags.i), among('-'), high);
    if (high < low) throw this.#fault('range out of order in character class', this.#at - 1);
    return range(low, high, this.#flags.i);
  }

  #setCode(): number | Fits {
    if (!this.#take('\\')) return this.#pattern.charCodeAt(this.#at++);
    return this.#take('b') ? 8 : this.#escapedCode();
  }

  /** Skips what may stand between a character and its quantifier: comments, empty quotations, and white space under `(?x)`. */
  #skip(): void {
    if (this.#isQuoted) return;
    this.#takeMatch(
      this.#flags.x ? /(?:\(\?#[^)]*\)|\\E|\\Q\\E|\s|#[^\n]*(?:\n|$))+/y : /(?:\(\?#[^)]*\)|\\E|\\Q\\E)+/y,
    );
  }

  #ended(): boolean {
    if (this.#isQuoted) return false;
    const next = this.#pattern[this.#at];
    return next === undefined || next === '|' || next === ')';
  }

  #take(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #takeMatch(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#pattern) ?? undefined;
    if (found !== undefined) this.#at += found[0].length;
    return found;
  }

  #fault(reason: string, position = this.#at): PatternError {
    return new PatternError(reason, position);
  }
}

const holds = (condition: (text: string, at: number) => boolean): Atom => ({
  piece: assertion(condition),
  isAssertion: true,
});
const start: Atom = { ...holds(atStart), isStart: true };
const one = (code: number, ignoresCase: boolean): Atom => ({
  fits: character(code, ignoresCase),
  ...(ignoresCase ? {} : { code }),
});
