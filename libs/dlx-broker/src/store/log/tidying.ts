import { pieceRows } from './columns.js';

/** After so many rows that came or went, one piece of each column is looked at. */
const opsPerPiece = pieceRows / 4;

/** What can give up memory piece by piece. */
interface Tidied {
  tidy(index: number): void;
}

/** Looks at one piece of a table after the other, round and round, as rows come and go. */
export class Tidying {
  #left = opsPerPiece;
  #next = 0;

  constructor(readonly columns: readonly Tidied[]) {}

  /** A row came or went. @param end rows below were used at least once */
  step(end: number): void {
    if (--this.#left > 0) return;
    this.#left = opsPerPiece;
    if (this.#next * pieceRows >= end) this.#next = 0;
    for (const column of this.columns) column.tidy(this.#next);
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
