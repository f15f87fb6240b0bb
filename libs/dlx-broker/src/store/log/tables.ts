import type { Journal } from '../../engine/broker/index.js';
import type { StoreSlot } from '../../engine/message/index.js';
import { Octets, pieceRows, References, Words } from './columns.js';
import { isTurnOver } from './in-turns.js';

/**
 * What this store notes in an object of the core: the number of its row in a table. Messages, entries and queues have a
 * table each, whose numbers begin with 1. A queue that is not stored has 0.
 */
export const slotOf = (number: number): StoreSlot => number as unknown as StoreSlot;

/** @returns 0 when there is no row */
export const numberIn = (slot: StoreSlot | undefined): number => (slot as unknown as number | undefined) ?? 0;

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
class Tidying {
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

/**
 * All messages of the store, in columns: at most 32 bytes a message, and about 8 in a long queue. The number of a message is its row. Free numbers are
 * used again, so a serial tells the messages of one number apart.
 */
export class MessageTable {
  /** Segment, offset and length of its record; segment 0 means that it is not in the log yet. */
  readonly segment = new Words();
  readonly offset = new Words();
  readonly length = new Words();
  readonly serial = new Words();
  /** The message whose body it shares, 0 for a body of its own. */
  readonly root = new Words();
  /** Entries of this message. */
  readonly own = new Words();
  /** Messages that share its body. */
  readonly shares = new Words();
  /** Its place in the cache of bodies, 0 for a body that is not there. */
  readonly cached = new Words();
  /** Messages in the table. */
  count = 0;
  /** Rows below were used at least once. */
  end = 1;
  /** Free rows are chained by their offsets. */
  #free = 0;
  #nextSerial = 1;
  readonly #tidying = new Tidying([
    this.segment,
    this.offset,
    this.length,
    this.serial,
    this.root,
    this.own,
    this.shares,
    this.cached,
  ]);

  /** The memory of all columns, in bytes. */
  get bytes(): number {
    const { segment, offset, length, serial, root, own, shares, cached } = this;
    return [segment, offset, length, serial, root, own, shares, cached].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** @returns its number */
  add(root: number): number {
    let number = this.#free;
    if (number === 0) {
      number = this.end++;
    } else {
      this.#free = this.offset.get(number);
    }
    this.serial.set(number, this.#nextSerial);
    this.#nextSerial = after(this.#nextSerial);
    this.root.set(number, root);
    this.count++;
    this.#tidying.step(number, this.end);
    return number;
  }

  free(number: number): void {
    this.segment.set(number, 0);
    this.serial.set(number, 0);
    this.root.set(number, 0);
    this.own.set(number, 0);
    this.shares.set(number, 0);
    this.offset.set(number, this.#free);
    this.#free = number;
    this.count--;
    this.#tidying.step(number, this.end);
  }

  /** While the log is read: makes the row of this number exist. */
  reach(number: number): void {
    if (number >= this.end) this.end = number + 1;
  }

  /** After the log was read: counts the rows in use and chains the others. Some in each step. */
  *rebuildingFreeList(): Generator<void, undefined> {
    this.#free = 0;
    this.count = 0;
    for (let number = this.end - 1; number > 0; number--) {
      if (isTurnOver(number)) yield;
      if (this.serial.get(number) >= this.#nextSerial) this.#nextSerial = after(this.serial.get(number));
      this.count++;
      if (this.own.get(number) === 0 && this.shares.get(number) === 0) this.free(number);
    }
    yield* this.#tidying.all(this.end);
  }
}

/** The next serial. After the largest value of the column serials begin at 1 again: 0 is no serial. */
const after = (serial: number): number => (serial % 0xffff_ffff) + 1;

export type Entry = Parameters<Journal['enqueued']>[1];

/** Flags of an entry. */
export const enum Flag {
  /** It is in its queue, or unacknowledged. */
  Live = 1,
  /** The log has a record of it. */
  Stored = 2,
  /** The next batch writes it. */
  Changed = 4,
  /** It is unacknowledged. */
  Unacked = 8,
  /** It expires earlier than its record says, because the clock was set back. The record is not written again for this alone. */
  Shortened = 16,
}

/** All entries of durable queues, in columns: at most 29 bytes an entry. The number of an entry is its row. */
export class EntryTable {
  readonly message = new Words();
  readonly queue = new Words();
  /** The segment with its last record. */
  readonly segment = new Words();
  /** Entries of one queue are chained, in no order. */
  readonly next = new Words();
  readonly previous = new Words();
  readonly flags = new Octets();
  /** The entries themselves, for position, deadline and returns; none for a row that its queue keeps. */
  readonly entries = new References<Entry>();
  /** The number of entries. */
  count = 0;
  end = 1;
  #free = 0;
  /** The first entry of each queue. */
  readonly #first = new Map<number, number>();
  readonly #tidying = new Tidying([this.message, this.queue, this.segment, this.next, this.previous, this.flags]);

  add(entry: Entry | undefined, message: number, queue: number, flags: number): number {
    let number = this.#free;
    if (number === 0) {
      number = this.end++;
    } else {
      this.#free = this.next.get(number);
    }
    this.entries.set(number, entry);
    this.message.set(number, message);
    this.queue.set(number, queue);
    this.flags.set(number, flags);
    this.#chain(number, queue);
    this.#tidying.step(number, this.end);
    return number;
  }

  /** Removes an entry. Its number is not reused before {@link free}. */
  remove(number: number): void {
    this.entries.set(number, undefined);
    this.#unchain(number);
  }

  free(number: number): void {
    this.flags.set(number, 0);
    this.segment.set(number, 0);
    this.next.set(number, this.#free);
    this.#free = number;
    this.#tidying.step(number, this.end);
  }

  /** The memory of all columns, in bytes. */
  get bytes(): number {
    const { message, queue, segment, next, previous, flags, entries } = this;
    return [message, queue, segment, next, previous, flags, entries].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Numbers of all entries of a queue: some of them in each step. The table must not change meanwhile. */
  *numbersOf(queue: number): Generator<void, Uint32Array> {
    let length = 0;
    for (let at = this.first(queue); at !== 0; at = this.next.get(at)) if (isTurnOver(++length)) yield;
    const numbers = new Uint32Array(length);
    for (let at = this.first(queue); at !== 0; at = this.next.get(at)) {
      numbers[--length] = at;
      if (isTurnOver(length)) yield;
    }
    return numbers;
  }

  /** The number of any entry of a queue, 0 when it has none. */
  first(queue: number): number {
    return this.#first.get(queue) ?? 0;
  }

  /** While the log is read: makes the row of this number exist. */
  reach(number: number): void {
    if (number >= this.end) this.end = number + 1;
  }

  /** After the log was read: chains the live rows by queue, and the others as free rows. Some in each step. */
  *rebuildingFreeList(): Generator<void, undefined> {
    for (let number = this.end - 1; number > 0; number--) {
      if (isTurnOver(number)) yield;
      if ((this.flags.get(number) & Flag.Live) === 0) this.free(number);
    }
    for (let number = 1; number < this.end; number++) {
      if (isTurnOver(number)) yield;
      if ((this.flags.get(number) & Flag.Live) !== 0) this.#chain(number, this.queue.get(number));
    }
    yield* this.#tidying.all(this.end);
  }

  #chain(number: number, queue: number): void {
    const first = this.#first.get(queue) ?? 0;
    this.next.set(number, first);
    this.previous.set(number, 0);
    if (first !== 0) this.previous.set(first, number);
    this.#first.set(queue, number);
    this.count++;
  }

  #unchain(number: number): void {
    const next = this.next.get(number);
    const previous = this.previous.get(number);
    if (next !== 0) this.previous.set(next, previous);
    if (previous !== 0) this.next.set(previous, next);
    else if (next !== 0) this.#first.set(this.queue.get(number), next);
    else this.#first.delete(this.queue.get(number));
    this.count--;
  }
}
