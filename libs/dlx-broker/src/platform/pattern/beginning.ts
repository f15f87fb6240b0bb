import type { Fits, Piece } from './matching.js';

/** A piece, or a single character. Characters in a row are collected into one piece, which matches faster. */
export type Atom =
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
export class Beginning {
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
