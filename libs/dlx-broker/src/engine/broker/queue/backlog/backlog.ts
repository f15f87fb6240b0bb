import { emptyBody, keptCopy, type Message, messageOf } from '../../../message/index.js';
import { countUpTo, Deque, firstWhereNot } from '../../deque.js';
import type { RowStore } from '../../ports.js';
import { CountedEntry, type Entry, entryAt } from '../entry.js';
import type { Packer } from './packer.js';
import { columnsOf, Kind, type PageColumns, selectRows } from './page-columns.js';

/** The fewest gaps for which a page is made anew. */
const minGaps = 16;

/**
 * Waiting messages in the middle of a long line, as rows of numbers: a few bytes each, where an object of an entry, of a message
 * and of a body takes hundreds. The entry that is made of a row equals the one of which the row was made.
 */
class Page {
  /** The number of messages that are still in the page. */
  length: number;
  readonly #store: RowStore | undefined;
  readonly #isCounted: boolean;
  #columns: PageColumns;
  /** All rows before this one have left. */
  #first = 0;
  /** Rows that have left from the middle. */
  #gone: Set<number> | undefined;

  /** Makes a page of the first entries of a line, which leave the line. */
  constructor(line: Deque<Entry>, rows: number, packer: Packer) {
    this.#store = packer.store;
    this.#isCounted = line.first() instanceof CountedEntry;
    this.#columns = columnsOf(line, rows, packer);
    this.length = this.#columns.rows;
  }

  /** The position of its last row. */
  get last(): number {
    const { positions, rows } = this.#columns;
    return positions.at(rows - 1);
  }

  /** Takes the next entries out, for good. @param limit the most entries to take */
  moveTo(line: Deque<Entry>, limit: number): void {
    for (let left = limit; left > 0 && this.length > 0; this.#first++) {
      if (this.#gone?.delete(this.#first) === true) continue;
      line.push(this.#taken(this.#first));
      this.length--;
      left--;
    }
  }

  has(position: number): boolean {
    return this.#rowOf(position) >= 0;
  }

  /** The entry of a position; see {@link Backlog.find}. */
  find(position: number): Entry | undefined {
    const row = this.#rowOf(position);
    return row < 0 ? undefined : this.#seen(row);
  }

  /** Takes the entry of a position out, for good. */
  take(position: number): Entry | undefined {
    const row = this.#rowOf(position);
    if (row < 0) return undefined;
    const entry = this.#taken(row);
    this.length--;
    const gone = (this.#gone ??= new Set());
    gone.add(row);
    if (gone.size >= minGaps && gone.size > 3 * this.length) this.#closeGaps(gone);
    return entry;
  }

  /** @param after visits only rows behind this position @returns false when a visit ended it */
  each(visit: (entry: Entry) => boolean | void, after: number): boolean {
    const { rows } = this.#columns;
    for (let row = this.#countUpTo(after); row < rows; row++) {
      if (this.#gone?.has(row) !== true && visit(this.#seen(row)) === false) return false;
    }
    return true;
  }

  /** The number of rows up to a position, those that are gone included. */
  #countUpTo(position: number): number {
    const { positions, rows } = this.#columns;
    return firstWhereNot(this.#first, rows, (row) => positions.at(row) <= position);
  }

  /** The row of a position; below 0 when it is not in the page. */
  #rowOf(position: number): number {
    const row = this.#countUpTo(position) - 1;
    const isThere = row >= this.#first && this.#columns.positions.at(row) === position && this.#gone?.has(row) !== true;
    return isThere ? row : -1;
  }

  /** Makes the page anew, so that a few messages that stay do not keep the memory of those that have left. */
  #closeGaps(gone: ReadonlySet<number>): void {
    const rows: number[] = [];
    for (let row = this.#first; row < this.#columns.rows; row++) if (!gone.has(row)) rows.push(row);
    if (rows.length === 0) return; // the caller drops the page
    this.#columns = selectRows(this.#columns, rows);
    this.#first = 0;
    this.#gone = undefined;
  }

  /** The entry of a row that is about to leave the page. */
  #taken(row: number): Entry {
    const kind = this.#columns.kinds.at(row) as Kind;
    const place = this.#columns.places.at(row);
    if (kind === Kind.Entry) return this.#columns.entries[place] as Entry;
    const entry = this.#entry(row, kind, place);
    if (kind === Kind.Stored) (this.#store as RowStore).recall(place, entry, this.#columns.sizes.at(row));
    return entry;
  }

  /** The entry of a row that stays. */
  #seen(row: number): Entry {
    const kind = this.#columns.kinds.at(row) as Kind;
    const place = this.#columns.places.at(row);
    if (kind === Kind.Entry) return this.#columns.entries[place] as Entry;
    const entry = this.#entry(row, kind, place);
    if (kind === Kind.Stored)
      entry.message.pageOut((this.#store as RowStore).bodyOf(place, this.#columns.sizes.at(row)));
    return entry;
  }

  #entry(row: number, kind: Kind, place: number): Entry {
    const { positions, deadlines, returns, failures } = this.#columns;
    const at = {
      position: positions.at(row),
      deadline: deadlines.at(row),
      returns: returns.at(row),
      failures: failures.at(row),
    };
    return entryAt(this.#message(row, kind, place), at, this.#isCounted);
  }

  /** The message of a row, without a body if the body is in the store. */
  #message(row: number, kind: Kind, place: number): Message {
    const { metadata, bytes, sizes, bodies } = this.#columns;
    const { exchange, routingKey, own, notes } = metadata.at(row);
    const body =
      kind === Kind.Copied
        ? keptCopy(bytes, place, place + sizes.at(row))
        : kind === Kind.Shared
          ? (bodies[place] as Uint8Array)
          : emptyBody;
    return messageOf(exchange, routingKey, own, body, notes);
  }
}

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
