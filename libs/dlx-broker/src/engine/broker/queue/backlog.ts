import { Deque } from '../deque.js';
import type { Entry } from './entry.js';
import type { Packer } from './packer.js';
import { Page } from './page.js';
import { countUpTo, firstWhereNot } from './position-search.js';

/** The number of rows that become entries together when they come to the front. */
const rowsPerMove = 256;

/**
 * The part of a long line behind its front: pages of rows, and then the newest messages as entries. A row takes a few bytes.
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

  /** Moves the next messages into the line in front of the backlog, which is empty. @returns that line, or another one in its place */
  moveTo(line: Deque<Entry>): Deque<Entry> {
    const page = this.#pages.first();
    if (page === undefined) return this.tail.takeFirst(this.tail.length);
    const before = page.length;
    page.moveTo(line, rowsPerMove);
    this.#inPages -= before - page.length;
    if (page.length === 0) this.#pages.shift();
    return line;
  }

  has(position: number): boolean {
    return this.#pageOf(position)?.has(position) ?? this.#inTail(position) !== undefined;
  }

  /** The entry of a position. The entry of a row is a copy for the caller, and no part of the queue. */
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

  /** @param after visits only entries behind this position */
  each(visit: (entry: Entry) => boolean | void, after: number): void {
    for (let index = this.#pageIndex(after); index < this.#pages.length; index++) {
      if (!(this.#pages.at(index) as Page).each(visit, after)) return;
    }
    this.tail.each(visit, countUpTo(this.tail, after));
  }

  /**
   * Makes a page of the oldest messages of the tail, unless most of them cannot become rows: then the queue tries again later. The
   * page ends with a message that can: messages behind it may become rows later, when the store has paged out their bodies.
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
    // A tail that has grown long gets shorter with each page, and no command makes many pages.
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
    const pages = this.#pages;
    return firstWhereNot(0, pages.length, (index) => (pages.at(index) as Page).last < position);
  }
}
