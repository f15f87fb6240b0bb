import type { Journal } from '../../engine/broker/index.js';
import { Octets, References, Words } from './columns.js';
import { isTurnOver } from './in-turns.js';
import { Tidying } from './tidying.js';

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
