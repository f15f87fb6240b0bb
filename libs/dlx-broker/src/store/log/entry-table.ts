import type { Journal } from '../../broker/index.js';
import { firstRows, longer } from './columns.js';

export type Entry = Parameters<Journal['enqueued']>[1];

/** Bits of what is known of an entry. */
export const enum Mark {
  /** It is in its queue, or in somebody's hands. */
  Live = 1,
  /** The log has it. */
  Stored = 2,
  /** The next batch writes it anew. */
  Changed = 4,
  /** It is in somebody's hands. */
  Held = 8,
}

/** All entries of durable queues, in columns: 29 bytes an entry. Each has a number, as messages have. */
export class EntryTable {
  message = new Uint32Array(firstRows);
  queue = new Uint32Array(firstRows);
  /** Where its last record is. */
  segment = new Uint32Array(firstRows);
  /** Entries of one queue are chained, in no order. */
  next = new Uint32Array(firstRows);
  previous = new Uint32Array(firstRows);
  marks = new Uint8Array(firstRows);
  /** The entries themselves, for position, deadline and returns. */
  readonly entries: (Entry | undefined)[] = [undefined];
  /** Entries there are. */
  count = 0;
  end = 1;
  #free = 0;
  /** The first entry of each queue. */
  readonly #first = new Map<number, number>();

  add(entry: Entry | undefined, message: number, queue: number, marks: number): number {
    let number = this.#free;
    if (number === 0) {
      number = this.end++;
      if (number === this.message.length) this.#grow(number * 2);
    } else {
      this.#free = this.next[number] as number;
    }
    this.entries[number] = entry;
    this.message[number] = message;
    this.queue[number] = queue;
    this.marks[number] = marks;
    this.#chain(number, queue);
    return number;
  }

  /** It is gone; its number stays taken until {@link free}. */
  remove(number: number): void {
    this.entries[number] = undefined;
    this.#unchain(number);
  }

  free(number: number): void {
    this.marks[number] = 0;
    this.segment[number] = 0;
    this.next[number] = this.#free;
    this.#free = number;
  }

  /** Numbers of all entries of a queue. */
  of(queue: number): Uint32Array {
    let length = 0;
    for (let at = this.#first.get(queue) ?? 0; at !== 0; at = this.next[at] as number) length++;
    const numbers = new Uint32Array(length);
    for (let at = this.#first.get(queue) ?? 0; at !== 0; at = this.next[at] as number) numbers[--length] = at;
    return numbers;
  }

  /** While the log is read: makes the row of a number there. */
  reach(number: number): void {
    if (number >= this.message.length) this.#grow(Math.max(number + 1, this.message.length * 2));
    if (number >= this.end) this.end = number + 1;
  }

  /** After the log was read: chains those that live by queue, and the others as free. */
  settleRows(): void {
    this.entries.length = this.end;
    this.entries.fill(undefined);
    for (let number = this.end - 1; number > 0; number--) {
      if (((this.marks[number] as number) & Mark.Live) === 0) this.free(number);
    }
    for (let number = 1; number < this.end; number++) {
      if (((this.marks[number] as number) & Mark.Live) !== 0) this.#chain(number, this.queue[number] as number);
    }
  }

  #chain(number: number, queue: number): void {
    const first = this.#first.get(queue) ?? 0;
    this.next[number] = first;
    this.previous[number] = 0;
    if (first !== 0) this.previous[first] = number;
    this.#first.set(queue, number);
    this.count++;
  }

  #unchain(number: number): void {
    const next = this.next[number] as number;
    const previous = this.previous[number] as number;
    if (next !== 0) this.previous[next] = previous;
    if (previous !== 0) this.next[previous] = next;
    else if (next !== 0) this.#first.set(this.queue[number] as number, next);
    else this.#first.delete(this.queue[number] as number);
    this.count--;
  }

  #grow(rows: number): void {
    this.message = longer(this.message, rows);
    this.queue = longer(this.queue, rows);
    this.segment = longer(this.segment, rows);
    this.next = longer(this.next, rows);
    this.previous = longer(this.previous, rows);
    this.marks = longer(this.marks, rows);
  }
}
