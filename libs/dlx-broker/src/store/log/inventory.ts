import type { Journal, Queue, RetainedDeath } from '../../engine/broker/index.js';
import type { Message, StoredBody } from '../../engine/message/index.js';
import { Bodies } from './bodies.js';
import { NumberList } from './columns.js';
import type { Segments } from './segment.js';
import { type Entry, EntryTable, Flag, MessageTable, numberIn, slotOf } from './tables.js';

/** Messages that are not in the log yet, in the order of their arrival. */
class FreshList {
  #messages: (Message | undefined)[] = [];
  readonly #queues = new NumberList();
  #first = 0;

  get length(): number {
    return this.#messages.length - this.#first;
  }

  /** @param queue its first queue */
  push(message: Message, queue: number): void {
    this.#messages.push(message);
    this.#queues.push(queue);
  }

  at(index: number): Message {
    return this.#messages[this.#first + index] as Message;
  }

  /** The first queue of a message. */
  queueAt(index: number): number {
    return this.#queues.at(index);
  }

  /** Removes messages from the front. */
  drop(count: number): void {
    this.#messages.fill(undefined, this.#first, this.#first + count);
    this.#first += count;
    this.#queues.drop(count);
    if (this.#first < this.#messages.length) return;
    this.#messages = [];
    this.#first = 0;
  }
}

/** Estimated bytes of the record of an entry. */
export const entryBytes = 28;

/** The numbers in a list that are as much work as one record. */
export const numbersInRecord = 8;

/** A death, and its bytes in the record of its entry. */
export interface StoredDeath extends RetainedDeath {
  bytes: number;
}

/**
 * Everything in the store, and the changes that are not in the log yet. A message that comes and goes between two batches is never
 * written.
 */
export class Inventory {
  readonly messages = new MessageTable();
  readonly bodies: Bodies;
  readonly entries = new EntryTable();
  /** The order in which entries of quorum queues were returned or died (rules D5, M3). */
  readonly orders = new Map<number, number>();
  nextOrder = 1;
  /** The deaths of entries whose dead letters have not reached all their queues yet (rule M3). */
  readonly deaths = new Map<number, StoredDeath>();
  /** Messages that are not in the log yet. */
  readonly fresh = new FreshList();
  /** Numbers of entries to write: new ones, and all of those that changed. */
  readonly changed = new NumberList();
  readonly delivered = new NumberList();
  readonly settled = new NumberList();
  /** Numbers of entries that become free once the batch has all settled entries. */
  readonly freed = new NumberList();
  /** Numbers of deleted queues that still have entries. */
  readonly #leaving = new Set<number>();
  /** Messages that lost an entry in this command, and may have none left. */
  #unreferenced: Message[] = [];
  /** Numbers of such messages of which there is no object. */
  #unreferencedRows: number[] = [];
  /** Messages without entries that are not in the log yet, and whose bodies other messages share. */
  readonly #bodyOwners = new Map<number, Message>();

  constructor(
    readonly segments: Segments,
    memory: number,
  ) {
    this.bodies = new Bodies(this.messages, segments, memory);
  }

  /** Estimated number of records to write. */
  get waiting(): number {
    const { fresh, changed, settled, freed, delivered } = this;
    return fresh.length + changed.length + (settled.length + freed.length + delivered.length) / numbersInRecord;
  }

  /** Whether the log has every change of an entry. */
  get isWritten(): boolean {
    return this.changed.length === 0 && this.delivered.length === 0 && this.settled.length === 0;
  }

  add(queue: number, entry: Entry): void {
    const { message } = entry;
    const number = numberIn(message.slot) || this.#store(message, queue);
    this.messages.own.add(number, 1);
    const row = this.entries.add(entry, number, queue, Flag.Live | Flag.Changed);
    entry.slot = slotOf(row);
    this.changed.push(row);
  }

  markDelivered(entry: Entry): void {
    const number = numberIn(entry.slot);
    const flags = this.entries.flags.get(number);
    this.entries.flags.set(number, flags | Flag.Unacked);
    if ((flags & Flag.Changed) === 0) this.delivered.push(number);
    this.bodies.loaded(entry.message);
  }

  markReturned({ declared }: Queue, { slot }: Entry): void {
    const number = numberIn(slot);
    if (declared.type === 'quorum') this.orders.set(number, this.nextOrder++);
    this.#rewriteEntry(number);
  }

  markDead({ slot }: Entry, { reason, time, headers }: RetainedDeath): void {
    const number = numberIn(slot);
    this.deaths.set(number, { reason, time, headers, bytes: 0 });
    this.orders.set(number, this.nextOrder++);
    this.#rewriteEntry(number);
  }

  remove(entry: Entry): void {
    const number = numberIn(entry.slot);
    if ((this.entries.flags.get(number) & Flag.Stored) !== 0) this.settled.push(number);
    this.#drop(number, entry);
  }

  /**
   * A queue was deleted with all its entries, which the log knows from its declaration. {@link dropSome} drops the entries;
   * until then they are neither written nor copied.
   */
  queueGone(queue: number): void {
    if (this.entries.first(queue) !== 0) this.#leaving.add(queue);
  }

  /** Whether the queue of this entry is deleted. */
  isLeaving(number: number): boolean {
    return this.#leaving.size > 0 && this.#leaving.has(this.entries.queue.get(number));
  }

  /**
   * Drops entries of deleted queues.
   * @param limit the most entries to drop
   * @returns whether there are more
   */
  dropSome(limit: number): boolean {
    let left = limit;
    for (const queue of this.#leaving) {
      for (let number = this.entries.first(queue); number !== 0; number = this.entries.first(queue)) {
        if (left-- === 0) return true;
        this.#drop(number, this.entries.entries.get(number));
      }
      this.#leaving.delete(queue);
    }
    return false;
  }

  /** Called at the end of a command: forgets messages without entries. */
  releaseUnreferenced(): void {
    if (this.#unreferenced.length === 0 && this.#unreferencedRows.length === 0) return;
    const { own, shares, segment } = this.messages;
    const released: number[] = [];
    for (const message of this.#unreferenced) {
      const number = numberIn(message.slot);
      if (number === 0 || own.get(number) !== 0) continue;
      if (shares.get(number) !== 0 && segment.get(number) === 0) {
        this.#bodyOwners.set(number, message);
        continue;
      }
      this.bodies.release(message);
      released.push(number);
    }
    // From here on numbers become free: bodies that others still read have been detached from theirs.
    this.#releaseRows();
    // A released message may have been the last one to share the body of another.
    for (const number of released)
      if (shares.get(number) === 0 && this.messages.serial.get(number) !== 0) this.#forget(number);
    this.#unreferenced = [];
  }

  /**
   * Messages of rows are in the log, so a message that shares the body of one finds it there. The last one to share a body may have
   * freed the owner of the body already.
   */
  #releaseRows(): void {
    const { own, shares, serial } = this.messages;
    for (const number of this.#unreferencedRows)
      if (own.get(number) === 0 && shares.get(number) === 0 && serial.get(number) !== 0) this.#forget(number);
    this.#unreferencedRows = [];
  }

  /** Estimated bytes of the record of this entry. */
  bytesOf(number: number): number {
    return this.deaths.size === 0 ? entryBytes : entryBytes + (this.deaths.get(number)?.bytes ?? 0);
  }

  /**
   * An entry from the log is in its queue again.
   * @param isChanged the next batch writes it again
   * @param isShortened it ends before its deadline in the log: its queue keeps no row of it
   */
  restored(number: number, entry: Entry, isChanged: boolean, isShortened: boolean): void {
    entry.slot = slotOf(number);
    this.entries.entries.set(number, entry);
    if (isShortened) this.entries.flags.set(number, this.entries.flags.get(number) | Flag.Shortened);
    if (isChanged) this.#rewriteEntry(number);
  }

  /** A fresh message was written, or left out. Without entries, only its body was needed. */
  processed(message: Message): void {
    if (this.#bodyOwners.size === 0) return;
    const number = numberIn(message.slot);
    if (this.#bodyOwners.get(number) !== message) return;
    this.#bodyOwners.delete(number);
    message.slot = undefined;
  }

  /** The entry is no longer unacknowledged, and the next batch writes it again. */
  #rewriteEntry(number: number): void {
    const flags = this.entries.flags.get(number);
    this.entries.flags.set(number, (flags & ~Flag.Unacked) | Flag.Changed);
    if ((flags & Flag.Changed) === 0) this.changed.push(number);
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

  /** @param entry undefined for a row that its queue kept */
  #drop(number: number, entry: Entry | undefined): void {
    const { entries, messages } = this;
    const flags = entries.flags.get(number);
    const message = entries.message.get(number);
    if (entry !== undefined) entry.slot = undefined;
    entries.remove(number);
    if ((flags & Flag.Stored) !== 0) this.segments.removeRecord(entries.segment.get(number), this.bytesOf(number));
    if (this.orders.size > 0) this.orders.delete(number);
    if (this.deaths.size > 0) this.deaths.delete(number);
    // An entry in the list of changed ones is freed when the batch comes to it.
    entries.flags.set(number, flags & Flag.Changed);
    if ((flags & Flag.Changed) === 0) this.freed.push(number);
    if (messages.own.add(message, -1) > 0) return;
    if (entry === undefined) this.#unreferencedRows.push(message);
    else this.#unreferenced.push(entry.message);
  }

  #forget(number: number): void {
    const { messages } = this;
    const root = messages.root.get(number);
    const segment = messages.segment.get(number);
    const owner = this.#bodyOwners.get(number);
    if (owner !== undefined) {
      owner.slot = undefined;
      this.#bodyOwners.delete(number);
    }
    if (segment !== 0) this.segments.removeRecord(segment, messages.length.get(number));
    messages.free(number);
    if (root === 0 || messages.shares.add(root, -1) > 0 || messages.own.get(root) !== 0) return;
    this.#forget(root);
  }
}

/**
 * Entries that a queue keeps as rows. The store knows such an entry and its message by their numbers, and where their records are; it
 * has no object of them. When it has to write the record of such an entry again, it copies the one in the log.
 */
export class Rows implements NonNullable<Journal['rows']> {
  constructor(readonly inventory: Inventory) {}

  hasAll({ slot, message }: Entry): boolean {
    const { entries, messages } = this.inventory;
    const number = numberIn(slot);
    if (number === 0 || entries.flags.get(number) !== (Flag.Live | Flag.Stored)) return false;
    const own = numberIn(message.slot);
    if (own === 0 || own !== entries.message.get(number) || messages.own.get(own) !== 1) return false;
    // The record with the body is missing in the log if the body was lost before it was written.
    if (messages.segment.get(messages.root.get(own) || own) === 0) return false;
    return messages.segment.get(own) !== 0;
  }

  forget(entry: Entry): number {
    const number = numberIn(entry.slot);
    this.inventory.bodies.forget(entry.message);
    entry.slot = undefined;
    this.inventory.entries.entries.set(number, undefined);
    return number;
  }

  recall(number: number, entry: Entry, size: number): void {
    const { entries, bodies } = this.inventory;
    entry.slot = slotOf(number);
    entry.message.slot = slotOf(entries.message.get(number));
    entries.entries.set(number, entry);
    bodies.pageOut(entry.message, size);
  }

  bodyOf(number: number, size: number): StoredBody {
    const { entries, bodies } = this.inventory;
    return bodies.detached(entries.message.get(number), size) as StoredBody;
  }
}
