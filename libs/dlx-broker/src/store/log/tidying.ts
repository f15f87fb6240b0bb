import { pieceRows } from './columns.js';

/** After this many rows were added or removed, one piece of each column is checked. */
const opsPerPiece = pieceRows / 4;

/** A column whose pieces can give up their memory. */
interface Tidied {
  tidy(index: number): void;
}

/**
 * Checks one piece of a table after the other, again and again, as rows come and go. Rows mostly leave in the order of their numbers, so
 * the piece before that of the last row is checked as well: while a long queue is drained, its pieces would otherwise take memory until
 * their turn comes.
 */
export class Tidying {
  #left = opsPerPiece;
  #next = 0;

  constructor(readonly columns: readonly Tidied[]) {}

  /** Called when a row was added or removed. @param end rows below were used at least once */
  step(row: number, end: number): void {
    if (--this.#left > 0) return;
    this.#left = opsPerPiece;
    if (this.#next * pieceRows >= end) this.#next = 0;
    const before = Math.floor(row / pieceRows) - 1;
    for (const column of this.columns) {
      column.tidy(this.#next);
      if (before >= 0) column.tidy(before);
    }
    this.#next++;
  }

  /** Looks at all pieces, those of the same rows in each step. */
  *all(end: number): Generator<void, undefined> {
    for (let index = 0; index * pieceRows < end; index++) {
      for (const column of this.columns) column.tidy(index);
      yield;
    }
  }
}
