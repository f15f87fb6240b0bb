/** A first-in-first-out list of numbers in one array, which is used again. */
export class NumberList {
  #numbers = new Uint32Array(256);
  #first = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#first;
  }

  push(number: number): void {
    if (this.#end === this.#numbers.length) this.#makeRoom();
    this.#numbers[this.#end++] = number;
  }

  at(index: number): number {
    return this.#numbers[this.#first + index] as number;
  }

  /** Removes numbers from the front. */
  drop(count: number): void {
    this.#first += count;
    if (this.#first >= this.#end) this.clear();
  }

  clear(): void {
    this.#first = 0;
    this.#end = 0;
    if (this.#numbers.length > 65_536) this.#numbers = new Uint32Array(256);
  }

  #makeRoom(): void {
    const { length } = this;
    const isHalfEmpty = this.#first > this.#numbers.length / 2;
    const numbers = isHalfEmpty ? this.#numbers : new Uint32Array(this.#numbers.length * 2);
    numbers.set(this.#numbers.subarray(this.#first, this.#end));
    this.#numbers = numbers;
    this.#first = 0;
    this.#end = length;
  }
}

/*
 * Columns of tables with millions of rows. A column consists of pieces, so it grows without a copy. A piece is allocated
 * when the first value other than 0 is put into it. A piece whose numbers have even steps needs no memory: in a long queue most
 * columns have the same number everywhere, or count the rows.
 * Each kind of number has a class of its own with the same lines. With one class for all, a million messages took 5.7 s to
 * publish instead of 5.0 s, probably because its loads and stores then see arrays of three kinds.
 * One class for the two kinds of integers alone takes 4 to 8 % more processor time for each access (5 pairs of runs, Node 20).
 */

/** A piece has 2 to the power of this rows. */
const bits = 14;
export const pieceRows = 1 << bits;
const mask = pieceRows - 1;

/** The numbers of a piece that is not in memory: the first one, and the step to each next one. */
interface Even {
  readonly first: number;
  readonly step: number;
}

function evenAt(pieces: readonly (Even | undefined)[], row: number): number {
  const even = pieces[row >>> bits];
  return even === undefined ? 0 : even.first + even.step * (row & mask);
}

/** The first number and the step of a piece whose steps are all the same; undefined for any other piece. */
function evenIn(piece: Uint32Array | Uint8Array): Even | undefined {
  const first = piece[0] as number;
  const step = (piece[1] as number) - first;
  for (let row = 2; row < pieceRows; row++) if (piece[row] !== first + step * row) return undefined;
  return { first, step };
}

/** Integers in pieces of one kind of array. */
abstract class Column<Piece extends Uint32Array | Uint8Array> {
  readonly #pieces: (Piece | undefined)[] = [];
  readonly #even: (Even | undefined)[] = [];

  protected abstract newPiece(): Piece;

  get bytes(): number {
    return this.#pieces.reduce((sum, piece) => sum + (piece?.byteLength ?? 0), 0);
  }

  /** 0 for what was never set. */
  get(row: number): number {
    const piece = this.#pieces[row >>> bits];
    return piece === undefined ? evenAt(this.#even, row) : (piece[row & mask] as number);
  }

  set(row: number, value: number): void {
    const piece = this.#pieces[row >>> bits];
    if (piece !== undefined) piece[row & mask] = value;
    else if (value !== evenAt(this.#even, row)) this.#spread(row >>> bits)[row & mask] = value;
  }

  /** Gives up the memory of a piece with even steps; the next value that does not fit takes it again. */
  tidy(index: number): void {
    const piece = this.#pieces[index];
    const even = piece && evenIn(piece);
    if (even === undefined) return;
    this.#even[index] = even;
    this.#pieces[index] = undefined;
  }

  /** Puts the numbers of a piece into memory. */
  #spread(index: number): Piece {
    const piece = this.newPiece();
    const even = this.#even[index];
    if (even !== undefined) for (let row = 0; row < pieceRows; row++) piece[row] = even.first + even.step * row;
    this.#even[index] = undefined;
    this.#pieces[index] = piece;
    return piece;
  }
}

/** Integers from 0 to 2^32 - 1. */
export class Words extends Column<Uint32Array> {
  protected newPiece(): Uint32Array {
    return new Uint32Array(pieceRows);
  }

  /** @returns the sum */
  add(row: number, by: number): number {
    const sum = this.get(row) + by;
    this.set(row, sum);
    return sum;
  }
}

/** Integers from 0 to 255. */
export class Octets extends Column<Uint8Array> {
  protected newPiece(): Uint8Array {
    return new Uint8Array(pieceRows);
  }
}

/** Integers from 0 to 2^53, mostly below 2^32. */
export class Integers {
  readonly #low = new Words();
  readonly #high = new Words();

  get(row: number): number {
    return this.#low.get(row) + this.#high.get(row) * 0x1_0000_0000;
  }

  set(row: number, value: number): void {
    this.#low.set(row, value >>> 0);
    this.#high.set(row, value <= 0xffff_ffff ? 0 : Math.floor(value / 0x1_0000_0000));
  }
}

/** Any numbers. */
export class Doubles {
  readonly #pieces: (Float64Array | undefined)[] = [];

  /** 0 for what was never set. */
  get(row: number): number {
    const piece = this.#pieces[row >>> bits];
    return piece === undefined ? 0 : (piece[row & mask] as number);
  }

  set(row: number, value: number): void {
    let piece = this.#pieces[row >>> bits];
    if (piece === undefined) {
      if (value === 0) return;
      this.#pieces[row >>> bits] = piece = new Float64Array(pieceRows);
    }
    piece[row & mask] = value;
  }
}

/** Objects. A piece without an object is dropped. */
export class References<T extends object> {
  readonly #pieces: (Piece<T> | undefined)[] = [];
  /** The last piece that was dropped, for the next one: rows of new messages are filled and emptied in turn. */
  #spare: Piece<T> | undefined;

  /** Eight bytes a reference. */
  get bytes(): number {
    return piecesIn(this.#pieces) * pieceRows * 8;
  }

  get(row: number): T | undefined {
    return this.#pieces[row >>> bits]?.values[row & mask];
  }

  set(row: number, value: T | undefined): void {
    let piece = this.#pieces[row >>> bits];
    if (piece === undefined) {
      if (value === undefined) return;
      piece = this.#spare ?? { values: new Array<T | undefined>(pieceRows), count: 0 };
      this.#spare = undefined;
      this.#pieces[row >>> bits] = piece;
    }
    const { values } = piece;
    const before = values[row & mask];
    values[row & mask] = value;
    if (value === undefined) {
      if (before !== undefined && --piece.count === 0) this.#drop(row >>> bits, piece);
    } else if (before === undefined) {
      piece.count++;
    }
  }

  #drop(index: number, piece: Piece<T>): void {
    this.#pieces[index] = undefined;
    this.#spare = piece;
  }
}

interface Piece<T> {
  readonly values: (T | undefined)[];
  /** Objects in it. */
  count: number;
}

function piecesIn(pieces: readonly unknown[]): number {
  let count = 0;
  for (const piece of pieces) if (piece !== undefined) count++;
  return count;
}
