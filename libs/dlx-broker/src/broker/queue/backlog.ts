import { Deque } from '../deque.js';
import type { Entry } from './entry.js';
import type { Packer } from './packer.js';
import { Page } from './page.js';
import { countUpTo } from './position-search.js';

/** So many rows become entries at once when they come to the front. */
const atOnce = 256;

/**
 * What stands behind the front of a long line: pages of rows, and then the newest messages as entries. Ten million messages wait here
 * in a few bytes each.
 */
export class Backlog {
  readonly #pages = new Deque<Page>();
  #inPages = 0;
  /** The length of the tail with which the next page is tried. */
  #packAt: number;

  constructor(
    readonly packer: Packer,
    /** The newest messages. */
    readonly tail: Deque<Entry>,
  ) {
    this.#packAt = 2 * packer.rows;
  }

  get length(): number {
    return this.#inPages + this.tail.length;
  }

  push(entry: Entry): void {
    this.tail.push(entry);
    if (this.tail.length >= this.#packAt) this.#pack();
  }

  /** Moves the next messages into the line before it, which is empty. @returns the line to go on with */
  moveTo(line: Deque<Entry>): Deque<Entry> {
    const page = this.#pages.first();
    if (page === undefined) {
      const rest = this.tail.takeFirst(this.tail.length);
      return rest;
    }
    const before = page.length;
    page.moveTo(line, atOnce);
    this.#inPages -= before - page.length;
    if (page.length === 0) this.#pages.shift();
    return line;
  }

  has(position: number): boolean {
    return this.#pageOf(position)?.has(position) ?? this.#inTail(position) !== undefined;
  }

  /** The entry of a position. That of a row is made for the caller: it is as the queue's own would be, and no part of the queue. */
  find(position: number): Entry | undefined {
    const page = this.#pageOf(position);
    return page === undefined ? this.#inTail(position) : page.find(position);
  }

  /** Takes the entry of a position out. */
  take(position: number): Entry | undefined {
    const index = this.#pageIndex(position);
    const page = this.#pages.at(index);
    if (page === undefined) {
      const entry = this.#inTail(position);
      if (entry !== undefined) this.tail.removeAt(countUpTo(this.tail, position) - 1);
      return entry;
    }
    const entry = page.take(position);
    if (entry !== undefined) this.#inPages--;
    if (page.length === 0) this.#pages.removeAt(index);
    return entry;
  }

  /** @param after only those behind this position */
  each(visit: (entry: Entry) => boolean | void, after: number): void {
    for (let index = this.#pageIndex(after); index < this.#pages.length; index++) {
      if (!(this.#pages.at(index) as Page).each(visit, after)) return;
    }
    this.tail.each(visit, countUpTo(this.tail, after));
  }

  /**
   * The oldest messages of the tail become a page, unless most of them cannot: then this is tried again later. The page ends with one
   * that fits: those behind it may fit later, when the store has given up their bodies.
   */
  #pack(): void {
    const { packer, tail } = this;
    let fit = 0;
    let rows = 0;
    for (let index = 0; index < packer.rows; index++) {
      if (!packer.fits(tail.at(index) as Entry)) continue;
      fit++;
      rows = index + 1;
    }
    if (fit * 2 < packer.rows) {
      this.#packAt = tail.length + packer.rows;
      return;
    }
    this.#pages.push(new Page(tail, rows, packer));
    this.#inPages += rows;
    // A tail that had to wait gets shorter with each page, and no command makes many pages.
    this.#packAt = Math.max(2 * packer.rows, tail.length + (packer.rows >> 2));
  }

  #inTail(position: number): Entry | undefined {
    const entry = this.tail.at(countUpTo(this.tail, position) - 1);
    return entry?.position === position ? entry : undefined;
  }

  #pageOf(position: number): Page | undefined {
    return this.#pages.at(this.#pageIndex(position));
  }

  /** The index of the first page that does not end before a position; the number of pages when all do. */
  #pageIndex(position: number): number {
    let low = 0;
    let high = this.#pages.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#pages.at(middle) as Page).last < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
