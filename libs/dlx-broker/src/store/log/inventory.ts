import type { Queue, RetainedDeath } from '../../broker/index.js';
import type { Message } from '../../message/index.js';
import { Bodies } from './bodies.js';
import { type Entry, EntryTable, Mark } from './entry-table.js';
import { FreshList } from './fresh-list.js';
import { MessageTable } from './message-table.js';
import { NumberList } from './number-list.js';
import type { Segments } from './segment.js';
import { numberIn, slotOf } from './slot.js';

/** Bytes of the record of an entry, about. */
export const entryBytes = 28;

/** A number is much less work than a record: so many are as much as one. */
export const numbersInRecord = 8;

/** A death, and the bytes it takes in the record of its entry. */
export interface StoredDeath extends RetainedDeath {
  bytes: number;
}

/**
 * What is kept, and what of it the log does not know yet. Between two batches only the difference counts: what came and
 * went meanwhile is never written.
 */
export class Inventory {
  readonly messages = new MessageTable();
  readonly bodies: Bodies;
  readonly entries = new EntryTable();
  /** When entries came back, or died: of those in quorum queues the order tells (rules D5, M3). */
  readonly orders = new Map<number, number>();
  nextOrder = 1;
  /** Of those that died and have not arrived everywhere (rule M3). */
  readonly deaths = new Map<number, StoredDeath>();
  /** Messages the log does not have. */
  readonly fresh = new FreshList();
  /** Entries to be written anew. */
  readonly changed = new NumberList();
  readonly delivered = new NumberList();
  readonly settled = new NumberList();
  /** Numbers of entries that are free when the batch has all settlements. */
  readonly freed = new NumberList();
  /** Numbers of queues that are gone, and some of their entries are not. */
  readonly #leaving = new Set<number>();
  /** Messages that no queue may have any more when the command is over. */
  #loose: Message[] = [];
  /** Messages of no queue whose body others share, and which the log does not have yet. */
  readonly #carriers = new Map<number, Message>();

  constructor(
    readonly segments: Segments,
    memory: number,
  ) {
    this.bodies = new Bodies(this.messages, segments, memory);
  }

  /** Records the log is to have, and does not have yet, about. */
  get waiting(): number {
    const { fresh, changed, settled, freed, delivered } = this;
    return fresh.length + changed.length + (settled.length + freed.length + delivered.length) / numbersInRecord;
  }

  /** Whether the log has all of it. */
  get isWritten(): boolean {
    return this.changed.length === 0 && this.delivered.length === 0 && this.settled.length === 0;
  }

  enqueued(queue: number, entry: Entry): void {
    const { message } = entry;
    const number = numberIn(message.slot) || this.#store(message, queue);
    this.messages.own.add(number, 1);
    const row = this.entries.add(entry, number, queue, Mark.Live | Mark.Changed);
    entry.slot = slotOf(row);
    this.changed.push(row);
  }

  handedOut(entry: Entry): void {
    const number = numberIn(entry.slot);
    const marks = this.entries.marks.get(number);
    this.entries.marks.set(number, marks | Mark.Held);
    if ((marks & Mark.Changed) === 0) this.delivered.push(number);
    this.bodies.fetched(entry.message);
  }

  cameBack({ declared }: Queue, { slot }: Entry): void {
    const number = numberIn(slot);
    if (declared.type === 'quorum') this.orders.set(number, this.nextOrder++);
    this.#leftHands(number);
  }

  died({ slot }: Entry, { reason, time, headers }: RetainedDeath): void {
    const number = numberIn(slot);
    this.deaths.set(number, { reason, time, headers, bytes: 0 });
    this.orders.set(number, this.nextOrder++);
    this.#leftHands(number);
  }

  gone(entry: Entry): void {
    const number = numberIn(entry.slot);
    if ((this.entries.marks.get(number) & Mark.Stored) !== 0) this.settled.push(number);
    this.#drop(number, entry);
  }

  /**
   * A queue is gone, and all that was in it; the log knows that from its declaration. Its entries are dropped by
   * {@link dropSome}; meanwhile they are neither written nor copied.
   */
  queueGone(queue: number): void {
    if (this.entries.first(queue) !== 0) this.#leaving.add(queue);
  }

  /** Whether its queue is gone. */
  isLeaving(number: number): boolean {
    return this.#leaving.size > 0 && this.#leaving.has(this.entries.queue.get(number));
  }

  /**
   * Drops entries of queues that are gone.
   * @param limit so many at most
   * @returns whether there are more
   */
  dropSome(limit: number): boolean {
    let left = limit;
    for (const queue of this.#leaving) {
      for (let number = this.entries.first(queue); number !== 0; number = this.entries.first(queue)) {
        if (left-- === 0) return true;
        this.#drop(number, this.entries.entries.get(number) as Entry);
      }
      this.#leaving.delete(queue);
    }
    return false;
  }

  /** The end of a command: messages without an entry are forgotten. */
  settleMessages(): void {
    if (this.#loose.length === 0) return;
    const { own, shares, segment } = this.messages;
    const released: number[] = [];
    for (const message of this.#loose) {
      const number = numberIn(message.slot);
      if (number === 0 || own.get(number) !== 0) continue;
      if (shares.get(number) !== 0 && segment.get(number) === 0) {
        this.#carriers.set(number, message);
        continue;
      }
      this.bodies.release(message);
      released.push(number);
    }
    // One of them may be the last that shared the body of another.
    for (const number of released)
      if (shares.get(number) === 0 && this.messages.serial.get(number) !== 0) this.#forget(number);
    this.#loose = [];
  }

  /** Of the record of an entry, about. */
  bytesOf(number: number): number {
    return this.deaths.size === 0 ? entryBytes : entryBytes + (this.deaths.get(number)?.bytes ?? 0);
  }

  /** Whether it is, or was, unacknowledged. */
  isHeld(number: number): boolean {
    return (this.entries.marks.get(number) & Mark.Held) !== 0;
  }

  /** What was found in the log is in its queue again; what its return changed is to be written. */
  restored(number: number, entry: Entry, wasHeld: boolean): void {
    entry.slot = slotOf(number);
    this.entries.entries.set(number, entry);
    if (wasHeld) this.#leftHands(number);
  }

  /** A fresh message was written, unless it is gone or lost: one of no queue is only wanted for its body. */
  looked(message: Message): void {
    if (this.#carriers.size === 0) return;
    const number = numberIn(message.slot);
    if (this.#carriers.get(number) !== message) return;
    this.#carriers.delete(number);
    message.slot = undefined;
  }

  /** It has no holder any more, and the next batch writes it anew. */
  #leftHands(number: number): void {
    const marks = this.entries.marks.get(number);
    this.entries.marks.set(number, (marks & ~Mark.Held) | Mark.Changed);
    if ((marks & Mark.Changed) === 0) this.changed.push(number);
  }

  /** @returns its number */
  #store(message: Message, queue: number): number {
    const { messages } = this;
    const root = this.bodies.rootOf(message);
    if (root !== 0) messages.shares.add(root, 1);
    const number = messages.add(root);
    message.slot = slotOf(number);
    this.fresh.push(message, queue);
    return number;
  }

  #drop(number: number, entry: Entry): void {
    const { entries, messages } = this;
    const marks = entries.marks.get(number);
    const message = entries.message.get(number);
    entry.slot = undefined;
    entries.remove(number);
    if ((marks & Mark.Stored) !== 0) this.segments.lose(entries.segment.get(number), this.bytesOf(number));
    if (this.orders.size > 0) this.orders.delete(number);
    if (this.deaths.size > 0) this.deaths.delete(number);
    // One that waits to be written is freed when its turn comes.
    entries.marks.set(number, marks & Mark.Changed);
    if ((marks & Mark.Changed) === 0) this.freed.push(number);
    if (messages.own.add(message, -1) === 0) this.#loose.push(entry.message);
  }

  #forget(number: number): void {
    const { messages } = this;
    const root = messages.root.get(number);
    const segment = messages.segment.get(number);
    const carrier = this.#carriers.get(number);
    if (carrier !== undefined) {
      carrier.slot = undefined;
      this.#carriers.delete(number);
    }
    if (segment !== 0) this.segments.lose(segment, messages.length.get(number));
    messages.free(number);
    if (root === 0 || messages.shares.add(root, -1) > 0 || messages.own.get(root) !== 0) return;
    this.#forget(root);
  }
}
