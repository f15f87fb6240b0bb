import type { Message, StoreSlot } from '../../message/index.js';
import type { Task } from '../scheduler/task.js';
import type { MessageOwner, Journal } from '../ports.js';
import type { Place } from '../queue/entry.js';
import { Timer, type Timers } from '../scheduler/timers.js';
import { delayOf, withDelayOver } from './delay.js';
import { DueHeap, DelayedEntry } from './due-heap.js';

/** What delayed messages need of their virtual host. */
export interface DelayedMessagesHome {
  readonly name: string;
  readonly timers: Timers;
  readonly journal: Journal | undefined;
  /** Schedules the release of messages that are due. */
  schedule(task: Task): void;
  /** Routes a message whose delay is over. */
  release(message: Message, now: number): void;
}

/** The name by which the journal knows the delayed messages of an exchange. No queue can have such a name (rule O3). */
const prefix = 'delayed\n';
export const delayedName = (exchange: string): string => prefix + exchange;

/** The exchange of {@link delayedName}; undefined for any other name. */
export const exchangeOfDelayed = (name: string): string | undefined =>
  name.startsWith(prefix) ? name.slice(prefix.length) : undefined;

/** The messages that a delayed exchange has not released. One timer fires for those due next, however many there are. */
export class DelayedMessages implements MessageOwner, Task {
  /** Written and read by the store only; undefined while the store does not have this object. */
  slot: StoreSlot | undefined = undefined;
  readonly name: string;
  readonly exchange: string;
  readonly declared: MessageOwner['declared'];
  readonly #heap = new DueHeap();
  /** Delayed messages by message id; several with the same id are in a set. */
  readonly #ids = new Map<string, DelayedEntry | Set<DelayedEntry>>();
  readonly #timer: Timer;
  #nextPosition = 1;
  #bytes = 0;
  #isReleasing = false;

  constructor(
    readonly home: DelayedMessagesHome,
    exchange: { readonly name: string; readonly type: string; readonly durable: boolean },
  ) {
    this.exchange = exchange.name;
    this.name = delayedName(exchange.name);
    this.declared = { type: exchange.type, durable: exchange.durable, owner: undefined };
    this.#timer = new Timer(() => this.#due());
  }

  get count(): number {
    return this.#heap.length;
  }

  /** Sum of the bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** When the next message is released, in milliseconds since 1970; undefined when there is none. */
  get nextDue(): number | undefined {
    return this.#heap.first()?.time;
  }

  /** Visits all entries, in no order. */
  each(visit: (entry: DelayedEntry) => void): void {
    this.#heap.each(visit);
  }

  /** Takes a message that has a delay. */
  take(message: Message, now: number): void {
    const delay = delayOf(message);
    const entry = new DelayedEntry(withDelayOver(message, delay), this.#nextPosition++, now + delay);
    this.#add(entry);
    this.home.journal?.enqueued(this, entry);
  }

  /** Drops all messages with this id. Part of a command. @returns how many there were */
  cancel(messageId: string): number {
    const found = this.#ids.get(messageId);
    if (found === undefined) return 0;
    const all = found instanceof Set ? [...found] : [found];
    for (const entry of all) this.drop(entry);
    return all.length;
  }

  /** Drops one message that it has. Part of a command. */
  drop(entry: DelayedEntry): void {
    this.#heap.cancel(entry);
    this.#forget(entry);
    this.home.journal?.settled(this, entry);
    this.#arm();
  }

  /** Puts a stored message back after a restart. A message that is due is released when the command is over. */
  restore(message: Message, { position, due = 0 }: Place): DelayedEntry {
    const entry = new DelayedEntry(message, position, due);
    this.#nextPosition = Math.max(this.#nextPosition, position + 1);
    this.#add(entry);
    return entry;
  }

  /** The exchange is deleted, and its delayed messages with it. */
  delete(): void {
    this.#heap.clear();
    this.#ids.clear();
    this.#bytes = 0;
    this.#arm();
  }

  /** Releases messages that are due. A release and the arrival in queues belong to one command. */
  work(now: number, limit: number): number {
    let steps = 0;
    for (; steps < limit; steps++) {
      const entry = this.#heap.first();
      if (entry === undefined || entry.time > now) break;
      this.#heap.shift();
      this.#forget(entry);
      this.home.release(entry.message, now);
      this.home.journal?.settled(this, entry);
    }
    if (steps < limit) {
      this.#isReleasing = false;
      this.#arm();
    }
    return steps;
  }

  #due(): void {
    this.#isReleasing = true;
    this.home.schedule(this);
  }

  /** Sets the timer for the next message, unless due messages are being released. */
  #arm(): void {
    const next = this.nextDue;
    if (next === undefined || this.#isReleasing) return this.home.timers.unset(this.#timer);
    if (!this.#timer.isSet || this.#timer.time !== next) this.home.timers.set(this.#timer, next);
  }

  #add(entry: DelayedEntry): void {
    this.#heap.push(entry);
    this.#bytes += entry.message.size;
    const id = entry.message.own.messageId;
    if (id !== undefined) this.#index(id, entry);
    if (this.#heap.first() === entry) this.#arm();
  }

  #forget(entry: DelayedEntry): void {
    this.#bytes -= entry.message.size;
    const id = entry.message.own.messageId;
    if (id === undefined) return;
    const found = this.#ids.get(id);
    if (found instanceof Set && found.delete(entry) && found.size > 0) return;
    this.#ids.delete(id);
  }

  #index(id: string, entry: DelayedEntry): void {
    const known = this.#ids.get(id);
    if (known === undefined) this.#ids.set(id, entry);
    else if (known instanceof Set) known.add(entry);
    else this.#ids.set(id, new Set([known, entry]));
  }
}
