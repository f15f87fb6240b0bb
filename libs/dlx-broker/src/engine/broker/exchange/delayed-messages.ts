import {
  delayHeader,
  type Field,
  type FieldTable,
  integerOf,
  type Message,
  noProperties,
  NotedMessage,
  Notes,
  type Properties,
  type StoreSlot,
  withHeaders,
} from '../../message/index.js';
import { preconditionFailed } from '../errors.js';
import type { Journal, MessageOwner } from '../ports.js';
import type { Place } from '../queue/entry.js';
import type { Task } from '../scheduler/task.js';
import { Timer, type Timers } from '../scheduler/timers.js';
import { DelayedEntry, DueHeap } from './due-heap.js';

// The names are those of RabbitMQ's delayed-message plugin.

/** The type of an exchange that delays each message by the milliseconds of its header `x-delay`. */
export const delayedType = 'x-delayed-message';

/** The argument with the type by which a delayed exchange routes. */
const delayedTypeArgument = 'x-delayed-type';

/** The longest delay in milliseconds, as in the plugin: about 49 days. A message with a longer delay is routed at once. */
export const maxDelay = 4_294_967_295;

/**
 * How long a delayed exchange delays a message, in milliseconds. 0 for a message that is routed at once: its delay is missing,
 * not above 0, too long or no number.
 */
export function delayOf({ own: { headers }, notes }: Message): number {
  if (headers === undefined || (notes !== undefined && notes.delay !== 0)) return 0;
  const field = headers.get(delayHeader);
  if (field === undefined) return 0;
  const delay = numberIn(field);
  return delay !== undefined && delay > 0 && delay <= maxDelay ? delay : 0;
}

/**
 * The message that is routed when its delay is over. Its `x-delay` is negated, so it is never delayed again.
 */
function withDelayOver(message: Message, delay: number): NotedMessage {
  const { exchange, routingKey, own, notes } = message;
  const after = Notes.of(notes?.copies, notes?.origin, notes?.deaths, delay);
  return new NotedMessage(exchange, routingKey, withoutDelay(own), message, after);
}

/**
 * The properties without the headers, if the delay is the only header: a million delayed messages then take less
 * memory.
 */
function withoutDelay(own: Properties): Properties {
  const { headers } = own;
  const isAll = headers === undefined || headers.size === 1;
  if (!isAll) return own;
  for (const name in own) {
    if (name !== 'headers' && own[name as keyof Properties] !== undefined)
      return withHeaders(own, undefined, own.expiration);
  }
  return noProperties;
}

/** The type by which an exchange routes. @throws 406 when a delayed exchange names no such type */
export const routingTypeOf = (declared: { readonly type: string; readonly arguments: FieldTable }): string =>
  declared.type === delayedType ? delayedTypeOf(declared.arguments) : declared.type;

/** The type by which a delayed exchange routes. @throws 406 when it is missing, or is itself the delayed type */
function delayedTypeOf(args: FieldTable): string {
  const type = args.get(delayedTypeArgument);
  if (type?.type !== 'S') {
    throw preconditionFailed(`Invalid argument, '${delayedTypeArgument}' must be an existing exchange type`);
  }
  if (type.value !== delayedType) return type.value;
  throw preconditionFailed(`Invalid argument, '${delayedType}' can't be used for '${delayedTypeArgument}'`);
}

/** The number in a field: an integer, a whole number as text, or the integer part of a fraction. */
function numberIn(field: Field): number | undefined {
  switch (field.type) {
    case 'f':
    case 'd':
      return Math.trunc(field.value);
    case 'D':
      return Math.trunc(field.value.value / 10 ** field.value.scale);
    case 'S':
      return /^[+-]?[0-9]{1,20}$/.test(field.value) ? Number(field.value) : undefined;
    default: {
      const integer = integerOf(field);
      return integer === undefined ? undefined : Number(integer);
    }
  }
}

/** What delayed messages need of their virtual host. */
interface DelayedMessagesHome {
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
