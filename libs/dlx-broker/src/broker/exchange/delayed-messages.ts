import type { Message, StoreSlot } from '../../message/index.js';
import type { Task } from '../scheduler/scheduler.js';
import type { MessageOwner, Journal } from '../ports.js';
import type { Place } from '../queue/entry.js';
import { Alarm, type Wakeups } from '../scheduler/timers.js';
import { delayOf, withDelayOver } from './delay.js';
import { DueHeap, Held } from './due-heap.js';

/** What a delayed exchange borrows from its virtual host. */
export interface DelayedMessagesHome {
  readonly name: string;
  readonly wakeups: Wakeups;
  readonly journal: Journal | undefined;
  /** Some messages are due: `work` is to be called. */
  schedule(task: Task): void;
  /** Routes a message whose time has come. */
  release(message: Message, now: number): void;
}

/** What the journal knows an exchange's hold by. No queue can have such a name (rule O3). */
const prefix = 'delayed\n';
export const delayedName = (exchange: string): string => prefix + exchange;

/** The exchange whose hold is called so, if it is one. */
export const exchangeOfDelayed = (name: string): string | undefined =>
  name.startsWith(prefix) ? name.slice(prefix.length) : undefined;

/** What a delayed exchange holds back. One alarm wakes it for what is due next, however many there are. */
export class DelayedMessages implements MessageOwner, Task {
  /** The store's. */
  slot: StoreSlot | undefined = undefined;
  readonly name: string;
  readonly declared: MessageOwner['declared'];
  readonly #heap = new DueHeap();
  /** Of those that have a message id; several that share one are a set. */
  readonly #ids = new Map<string, Held | Set<Held>>();
  readonly #alarm: Alarm;
  #nextPosition = 1;
  #bytes = 0;
  #isReleasing = false;

  constructor(
    readonly home: DelayedMessagesHome,
    exchange: { readonly name: string; readonly type: string; readonly durable: boolean },
  ) {
    this.name = delayedName(exchange.name);
    this.declared = { type: exchange.type, durable: exchange.durable, owner: undefined };
    this.#alarm = new Alarm(() => this.#due());
  }

  get count(): number {
    return this.#heap.length;
  }

  /** Sum of the bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** When the next message goes on, in milliseconds since 1970; undefined when there is none. */
  get nextDue(): number | undefined {
    return this.#heap.first()?.time;
  }

  /** All that are held, in no order. */
  each(visit: (held: Held) => void): void {
    this.#heap.each(visit);
  }

  /** Holds a message that has a delay. */
  take(message: Message, now: number): void {
    const delay = delayOf(message);
    const held = new Held(withDelayOver(message, delay), this.#nextPosition++, now + delay);
    this.#add(held);
    this.home.journal?.enqueued(this, held);
  }

  /** Drops all of this message id. Part of a command. @returns how many there were */
  cancel(messageId: string): number {
    const found = this.#ids.get(messageId);
    if (found === undefined) return 0;
    const all = found instanceof Set ? [...found] : [found];
    for (const held of all) {
      this.#heap.cancel(held);
      this.#forget(held);
      this.home.journal?.settled(this, held);
    }
    this.#arm();
    return all.length;
  }

  /** Puts a message back that outlived the process. What was due meanwhile goes on when the command is over. */
  restore(message: Message, { position, due = 0 }: Place): Held {
    const held = new Held(message, position, due);
    this.#nextPosition = Math.max(this.#nextPosition, position + 1);
    this.#add(held);
    return held;
  }

  /** The exchange is gone, and what it held with it. */
  end(): void {
    this.#heap.clear();
    this.#ids.clear();
    this.#bytes = 0;
    this.#arm();
  }

  /** Lets go of what is due, each together with its arrival. */
  work(now: number, limit: number): number {
    let steps = 0;
    for (; steps < limit; steps++) {
      const held = this.#heap.first();
      if (held === undefined || held.time > now) break;
      this.#heap.shift();
      this.#forget(held);
      this.home.release(held.message, now);
      this.home.journal?.settled(this, held);
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

  /** While some are released the others wait for that. */
  #arm(): void {
    const next = this.nextDue;
    if (next === undefined || this.#isReleasing) return this.home.wakeups.unset(this.#alarm);
    if (!this.#alarm.isSet || this.#alarm.time !== next) this.home.wakeups.set(this.#alarm, next);
  }

  #add(held: Held): void {
    this.#heap.push(held);
    this.#bytes += held.message.size;
    const id = held.message.own.messageId;
    if (id !== undefined) this.#index(id, held);
    if (this.#heap.first() === held) this.#arm();
  }

  #forget(held: Held): void {
    this.#bytes -= held.message.size;
    const id = held.message.own.messageId;
    if (id === undefined) return;
    const found = this.#ids.get(id);
    if (found instanceof Set && found.delete(held) && found.size > 0) return;
    this.#ids.delete(id);
  }

  #index(id: string, held: Held): void {
    const known = this.#ids.get(id);
    if (known === undefined) this.#ids.set(id, held);
    else if (known instanceof Set) known.add(held);
    else this.#ids.set(id, new Set([known, held]));
  }
}
