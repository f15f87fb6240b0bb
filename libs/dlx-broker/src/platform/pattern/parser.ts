import { character, foldCase, lineEnd, word } from './code-set.js';
import {
  anyOf,
  assertion,
  atomic,
  backreference,
  capture,
  characters,
  type Fits,
  lookAhead,
  lookBehind,
  type Piece,
  repeat,
  repeatCharacter,
  sequence,
  type Times,
} from './matching.js';
import { escapedCode, readClass, Reader } from './set.js';

/** A piece, or a single character. Characters in a row are collected into one piece, which matches faster. */
type Atom =
  | {
      readonly piece: Piece;
      /** True for a condition such as `\b`, which no quantifier may follow. */
      readonly isAssertion?: true;
      /** True for `^` and `\A`, which hold at the start of a name only. */
      readonly isStart?: true;
    }
  | {
      readonly fits: Fits;
      /** The only character that fits, where there is only one. */
      readonly code?: number;
    };

/** The text with which all names begin that match one alternative of a pattern. */
class Beginning {
  /** Undefined for an alternative that may match in the middle of a name. */
  text: string | undefined;
  #isComplete = false;

  /** Adds the next part of the alternative. The text ends before the first part that is not one character. */
  add(atom: Atom): void {
    if (this.#isComplete) return;
    if ('piece' in atom && atom.isStart) this.text ??= '';
    else if (this.text !== undefined && 'fits' in atom && atom.code !== undefined)
      this.text += String.fromCharCode(atom.code);
    else this.#isComplete = true;
  }
}

/** The most characters of a pattern: RabbitMQ takes no more plain characters in a row. */
const longestPattern = 32_764;

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

const isWordAt = (text: string, at: number): boolean => at >= 0 && at < text.length && word.has(text.charCodeAt(at));
const atWordEdge = (text: string, at: number): boolean => isWordAt(text, at - 1) !== isWordAt(text, at);
const atStart = (_: string, at: number): boolean => at === 0;
const atEnd = (text: string, at: number): boolean => at === text.length;
const atLastLine = (text: string, at: number): boolean =>
  atEnd(text, at) || (at === text.length - 1 && text[at] === '\n');

/** Parses regular expressions of PCRE, as far as patterns of names need them. */
export class Parser {
  readonly #input: Reader;
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
    this.#input = new Reader(pattern);
    if (pattern.length > longestPattern) throw this.#input.fault('regular expression is too large', pattern.length);
  }

  parse(): Parsed {
    const piece = this.#alternatives();
    if (this.#input.at < this.#input.text.length) throw this.#input.fault('unmatched parentheses');
    if (this.#highestReference > this.#groupCount) throw this.#input.fault('reference to non-existent subpattern');
    const [first, ...others] = this.#beginnings;
    return { piece, start: others.length === 0 ? first?.text : undefined };
  }

  /** Parses up to the end or a closing parenthesis. Flags that are set inside end there. */
  #alternatives(): Piece {
    if (++this.#depth > 100) throw this.#input.fault('parentheses are too deeply nested');
    const flags = this.#flags;
    const branches = [this.#branch()];
    while (this.#input.take('|')) branches.push(this.#branch());
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
    const { m, s } = this.#flags;
    if (this.#isQuoted) return one(this.#input.takeCode(), this.#flags.i);
    if (this.#times() !== undefined) throw this.#input.fault('nothing to repeat', this.#input.at - 1);
    const code = this.#input.takeCode();
    switch (String.fromCharCode(code)) {
      case '.':
        return s ? anything : anythingInLine;
      case '^':
        return m ? lineStart : start;
      case '$':
        return m ? lineEndHere : lastLineEnd;
      case '[':
        return { fits: readClass(this.#input, this.#flags.i) };
      case '(':
        return this.#group();
      case '\\':
        return this.#escape();
      default:
        return one(code, this.#flags.i);
    }
  }

  #quantified<Given extends Atom | undefined>(atom: Given): Atom | Given {
    this.#skip();
    const times = this.#times();
    if (times === undefined) return atom;
    if (atom === undefined || ('piece' in atom && atom.isAssertion))
      throw this.#input.fault('nothing to repeat', this.#input.at - 1);
    const greedy = !this.#input.take('?');
    const possessive = greedy && this.#input.take('+');
    const all = { ...times, greedy };
    const piece = 'fits' in atom ? repeatCharacter(atom.fits, all) : repeat(atom.piece, all);
    return { piece: possessive ? atomic(piece) : piece };
  }

  #times(): Pick<Times, 'min' | 'max'> | undefined {
    if (this.#isQuoted) return undefined;
    if (this.#input.take('*')) return { min: 0, max: Infinity };
    if (this.#input.take('+')) return { min: 1, max: Infinity };
    if (this.#input.take('?')) return { min: 0, max: 1 };
    if (this.#input.next !== '{') return undefined;
    const counted = this.#input.takeMatch(/\{(\d{1,5})(,?)(\d{0,5})\}/y);
    if (counted === undefined) return undefined;
    const min = Number(counted[1]);
    const max = counted[3] !== '' ? Number(counted[3]) : counted[2] === '' ? min : Infinity;
    if (max < min) throw this.#input.fault('numbers out of order in {} quantifier', this.#input.at - 1);
    return { min, max };
  }

  #group(): Atom | undefined {
    if (this.#input.takeMatch(/\*[A-Za-z]\w*/y) !== undefined)
      throw this.#input.fault('(*VERB) not recognized or malformed');
    if (this.#input.take('?:')) return this.#closed();
    if (this.#input.take('?>')) return this.#closed(atomic);
    if (this.#input.take('?=')) return this.#closed((piece) => lookAhead(piece, true));
    if (this.#input.take('?!')) return this.#closed((piece) => lookAhead(piece, false));
    if (this.#input.take('?<=')) return this.#closed((piece) => lookBehind(piece, true));
    if (this.#input.take('?<!')) return this.#closed((piece) => lookBehind(piece, false));
    const flags = this.#input.takeMatch(/\?([imsx]*)(?:-([imsx]*))?([:)])/y);
    if (flags !== undefined) return this.#withFlags(flags[1] ?? '', flags[2] ?? '', flags[3] === ')');
    const named = this.#input.takeMatch(/\?(?:P?<|')([A-Za-z_]\w*)[>']/y);
    if (named === undefined && this.#input.next === '?') {
      throw this.#input.fault('unrecognized character after (? or (?-', this.#input.at + 1);
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
    if (!this.#input.take(')')) throw this.#input.fault('missing )');
    return { piece: wrap(piece) };
  }

  #escape(): Atom | undefined {
    const holdsHere = assertions.get(this.#input.next ?? '');
    if (holdsHere !== undefined) {
      this.#input.at++;
      return holdsHere;
    }
    if (this.#input.take('Q')) return this.#quoted();
    const number = this.#reference();
    if (number !== undefined) return { piece: backreference(number, this.#flags.i ? foldCase : (text) => text) };
    const code = escapedCode(this.#input);
    return typeof code === 'number' ? one(code, this.#flags.i) : { fits: code.fits };
  }

  /** Begins a quotation: its characters have no meaning but themselves. A quantifier after it is that of its last character. */
  #quoted(): Atom | undefined {
    const end = this.#input.text.indexOf('\\E', this.#input.at);
    this.#quotedUntil = end < 0 ? this.#input.text.length : end;
    return this.#isQuoted ? this.#atom() : undefined;
  }

  get #isQuoted(): boolean {
    return this.#input.at < this.#quotedUntil;
  }

  /** The number of the group to which `\1` or `\k<name>` refers. A number from 8 on without so many groups before it is octal. */
  #reference(): number | undefined {
    const named = this.#input.takeMatch(/k(?:\{(\w+)\}|<(\w+)>|'(\w+)')/y);
    if (named !== undefined) {
      const number = this.#groupNames.get(named[1] ?? named[2] ?? named[3] ?? '');
      if (number === undefined) throw this.#input.fault('reference to non-existent subpattern');
      return number;
    }
    const before = this.#input.at;
    const number = Number(this.#input.takeMatch(/[1-9]\d*/y)?.[0]);
    if (number < 8 || number <= this.#groupCount) {
      this.#highestReference = Math.max(this.#highestReference, number);
      return number;
    }
    this.#input.at = before;
    return undefined;
  }

  /** Skips what may stand between a character and its quantifier: comments, empty quotations, and white space under `(?x)`. */
  #skip(): void {
    if (this.#isQuoted) return;
    const { next } = this.#input;
    if (!this.#flags.x && next !== '(' && next !== '\\') return; // the usual case, without a regular expression
    this.#input.takeMatch(
      this.#flags.x ? /(?:\(\?#[^)]*\)|\\E|\\Q\\E|\s|#[^\n]*(?:\n|$))+/y : /(?:\(\?#[^)]*\)|\\E|\\Q\\E)+/y,
    );
  }

  #ended(): boolean {
    if (this.#isQuoted) return false;
    const next = this.#input.next;
    return next === undefined || next === '|' || next === ')';
  }
}

const holds = (condition: (text: string, at: number) => boolean): Atom => ({
  piece: assertion(condition),
  isAssertion: true,
});
const start: Atom = { ...holds(atStart), isStart: true };
const lineStart = holds((text, at) => at === 0 || text[at - 1] === '\n');
const lineEndHere = holds((text, at) => atEnd(text, at) || text[at] === '\n');
const lastLineEnd = holds(atLastLine);
const anything: Atom = { fits: () => true };
const anythingInLine: Atom = { fits: lineEnd.inverse.fits };

const assertions: ReadonlyMap<string, Atom> = new Map([
  ['A', start],
  ['b', holds(atWordEdge)],
  ['B', holds((text: string, at: number) => !atWordEdge(text, at))],
  ['z', holds(atEnd)],
  ['Z', lastLineEnd],
]);

const newAtom = (code: number, ignoresCase: boolean): Atom => ({
  fits: character(code, ignoresCase),
  ...(ignoresCase ? {} : { code }),
});

/** The characters of ASCII, which patterns repeat: each is made once. */
const known = [false, true].map((ignoresCase) => Array.from({ length: 128 }, (_, code) => newAtom(code, ignoresCase)));

const one = (code: number, ignoresCase: boolean): Atom =>
  known[ignoresCase ? 1 : 0]![code] ?? newAtom(code, ignoresCase);
