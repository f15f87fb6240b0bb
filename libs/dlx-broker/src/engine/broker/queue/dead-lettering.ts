import {
  compact,
  type DeathEntry,
  type DeathReason,
  delayHeader,
  type Dialect,
  type Field,
  type FieldTable,
  isClaimed,
  type Message,
  NotedMessage,
  Notes,
  type Properties,
  recordDeath,
  withHeaders,
} from '../../message/index.js';
import { type DeadLetterStrategy, type GlobalCounters, type QueueCounters, type TotalCounters } from '../counters.js';
import type { Deque } from '../deque.js';
import type { Journal, MessageOwner } from '../ports.js';
import type { Profile } from '../profile.js';
import type { ScheduledLetter } from '../scheduler/scheduler.js';
import type { Timers } from '../scheduler/timers.js';
import type { QueueSettings } from './arguments.js';
import { type Entry, entryOf, type RetainedDeath } from './entry.js';
import { overflowPolicies } from './overflow.js';
import { Retained } from './retained.js';

/** Called for each death, inside the command that causes it: the listener may start no other command. */
export type DeathListener = (queue: DyingQueue, message: Message, reason: DeathReason, now: number) => void;

/** A queue, as far as deaths are concerned. */
export interface DyingQueue extends MessageOwner {
  readonly home: DeadLetteringHome;
  readonly settings: QueueSettings;
  readonly counters: QueueCounters;
  readonly deadLettering: DeadLettering;
  /** See {@link Ready.sizeOf}. */
  sizeOf(message: Message): number;
}

/** What deaths need of the virtual host. */
export interface DeadLetteringHome {
  readonly name: string;
  readonly profile: Profile;
  readonly timers: Timers;
  readonly counters: TotalCounters;
  readonly globals: GlobalCounters;
  /** When an at-least-once dead letter that did not arrive is routed again, in milliseconds. */
  readonly deadLetterRetryAfter: number;
  readonly deathListeners: ReadonlySet<DeathListener>;
  /** Dead letters that the scheduler is to route. */
  readonly dead: Deque<PendingLetter>;
  readonly journal: Journal | undefined;
  readonly routing: { routeDeadLetter(letter: PendingLetter, now: number): void };
}

/** What a queue does with the messages that die in it. */
export class DeadLettering {
  readonly #queue: DyingQueue;
  readonly #home: DeadLetteringHome;
  readonly #wake: () => void;
  #retained: Retained<PendingLetter> | undefined;
  /** Made at the first death. */
  #readdressing: Readdressing | undefined;

  /** @param wake called when a dead letter is to be routed again, or is kept */
  constructor(queue: DyingQueue, wake: () => void) {
    this.#queue = queue;
    this.#home = queue.home;
    this.#wake = wake;
  }

  /** At-least-once dead letters on their way (rule M3); undefined when there never were any. */
  get retained(): Retained<PendingLetter> | undefined {
    return this.#retained;
  }

  /** Dead-letters an entry that has left the queue, or that the queue refused. */
  die(entry: Entry, reason: DeathReason, now: number, headers?: FieldTable): void {
    const queue = this.#queue;
    const home = this.#home;
    queue.counters[reason]++;
    home.counters[reason]++;
    if (home.deathListeners.size > 0)
      for (const deathListener of home.deathListeners) deathListener(queue, entry.message, reason, now);
    const letter = this.#send(entry, reason, now, headers);
    if (letter === undefined) this.#countDeath(reason, 'disabled');
    else if (letter.retained) {
      this.#countDeath(reason, 'at_least_once');
      home.journal?.died(queue, entry, letter);
    }
  }

  /**
   * Restores an entry that had died before a restart and is still in its queue. The dead-letter exchange may have changed since.
   */
  restore(entry: Entry, { reason, time, headers }: RetainedDeath): Entry {
    this.#send(entry, reason, time, headers);
    return entry;
  }

  /** The full queue refuses a message. Under `reject-publish-dlx` the message dies without having been in the queue (rule C8). */
  refuse(message: Message, now: number, letter: PendingLetter | undefined): void {
    if (!overflowPolicies[this.#queue.settings.overflow].deadLettersRefused) return;
    this.#home.journal?.detached?.(message);
    const entry = entryOf(message, 0, 0, this.#home.profile.countsFailuresApart);
    if (letter !== undefined) entry.inherit(letter.entry);
    this.die(entry, 'maxlen', now);
  }

  /** The message that is published for a dead letter of this queue. */
  readdress(letter: PendingLetter): NotedMessage {
    this.#readdressing ??= new Readdressing(this.#home.profile);
    return this.#readdressing.readdress(letter);
  }

  /**
   * Ends the routing of a dead letter (rule M3).
   * @param arrived whether all target queues have it
   * @param strategy counts the death of an at-most-once letter; an at-least-once letter was counted when it died
   */
  finish(letter: PendingLetter, arrived: boolean, strategy: DeadLetterStrategy, now: number): void {
    const { journal } = this.#home;
    if (!letter.retained) {
      this.#countDeath(letter.reason, strategy);
      return journal?.settled(this.#queue, letter.entry);
    }
    if (this.#retained === undefined || !this.#retained.has(letter)) return;
    if (!arrived) return this.#retained.retryLater(letter, now);
    this.#retained.release(letter);
    this.#home.globals.confirmedLetters++;
    journal?.settled(this.#queue, letter.entry);
  }

  #countDeath(reason: DeathReason, strategy: DeadLetterStrategy): void {
    this.#home.globals.countDeath(this.#queue.declared.type === 'quorum', reason, strategy);
  }

  /** Puts a dead letter into the list of the scheduler. @returns undefined when the queue has no dead-letter exchange */
  #send(entry: Entry, reason: DeathReason, time: number, headers: FieldTable | undefined): PendingLetter | undefined {
    const queue = this.#queue;
    const home = this.#home;
    const { deadLetterExchange, deadLetterRoutingKey: key, deadLetterStrategy } = queue.settings;
    if (deadLetterExchange === undefined) {
      home.journal?.settled(queue, entry); // rule A7
      return undefined;
    }
    const isRetained = deadLetterStrategy === 'at-least-once';
    const letter = new PendingLetter(queue, entry, reason, time, deadLetterExchange, key, headers, isRetained);
    if (isRetained) {
      this.#retained ??= new Retained(
        home.timers,
        (message) => queue.sizeOf(message),
        home.deadLetterRetryAfter,
        home.dead,
        this.#wake,
      );
      this.#retained.add(letter);
      this.#wake(); // the queue is longer (rule M5)
    }
    home.dead.push(letter);
    return letter;
  }

  /**
   * The strategy has changed to at-most-once, or the queue is purged: dead letters that have not arrived yet are lost (rule M4).
   * @returns how many there were
   */
  forgetRetained(): number {
    const letters = this.#retained?.clear() ?? [];
    for (const letter of letters) this.#home.journal?.settled(this.#queue, letter.entry);
    return letters.length;
  }
}

/**
 * A message that died and has not reached its dead-letter exchange, with the address that its queue gave it at that moment
 * (rule F6).
 */
export class PendingLetter implements RetainedDeath, ScheduledLetter {
  /** At-least-once: the queues that have the letter, so that a retry does not deliver it twice (rule M3). */
  delivered: Set<MessageOwner> | undefined;

  constructor(
    readonly queue: DyingQueue,
    readonly entry: Entry,
    readonly reason: DeathReason,
    /** When it died, in milliseconds since 1970. */
    readonly time: number,
    readonly exchange: string,
    /** The configured key, or undefined for the message's own keys (rule G2). */
    readonly routingKey: string | undefined,
    /** Headers that a rejecting handler adds: an extension, because AMQP's reject has none. */
    readonly headers: FieldTable | undefined,
    /** At-least-once: the letter counts in its queue until every target has it (rule M3). */
    readonly retained: boolean,
  ) {}

  /** Called by the scheduler. */
  route(now: number): void {
    this.queue.home.routing.routeDeadLetter(this, now);
  }

  /**
   * Whether a queue gets the letter.
   * @param message the message that is published for the letter
   */
  isFor(queue: MessageOwner, { deaths }: Message): boolean {
    return this.delivered?.has(queue) !== true && deaths?.closesCycle(queue.name) !== true; // rules M3, I2
  }

  /** A queue has taken the letter. */
  arrivedIn(queue: MessageOwner): void {
    if (this.retained) (this.delivered ??= new Set()).add(queue);
  }
}

/**
 * Makes dead letters of the messages of one queue: death recorded, address and headers changed (section H of the
 * rules).
 */
class Readdressing {
  // Many messages die in the same way within one second: their notes are made once, and shared.
  #before: Notes | undefined;
  #death: DeathEntry | undefined;
  #after: Notes | undefined;

  constructor(readonly dialect: Dialect) {}

  /** The message that is published for a dead letter. */
  readdress(letter: PendingLetter): NotedMessage {
    const { message } = letter.entry;
    const own = ownAfter(letter, message, this.dialect);
    const notes = this.#notes(letter, message, own);
    const headers = notes.deaths?.own(own.headers);
    return new NotedMessage(
      letter.exchange,
      letter.routingKey ?? message.routingKey, // rule H1
      headers === own.headers ? own : withHeaders(own, headers, own.expiration),
      message,
      notes,
    );
  }

  #notes(letter: PendingLetter, message: Message, own: Properties): Notes {
    const { notes: before } = message;
    const time = Math.floor(letter.time / 1000) * 1000;
    const copies = letter.routingKey === undefined ? before?.copies : undefined;
    const delay = before === undefined || letter.headers?.has(delayHeader) === true ? 0 : before.delay;
    const isShared =
      before?.deaths === undefined ? !isClaimed(own.headers, this.dialect) : before.deaths.first !== undefined;
    const known = this.#after;
    if (isShared && known?.copies === copies && known?.delay === delay && this.#isKnown(letter, message, time)) {
      return known as Notes;
    }
    const death = deathOf(letter, message, time);
    const deaths = recordDeath(message, death, own.headers, this.dialect);
    const origin = message.origin?.queue === undefined ? originAt(message, letter.queue.name) : message.origin;
    const after = Notes.of(copies, origin, deaths, delay);
    if (isShared) {
      this.#before = before;
      this.#death = death;
      this.#after = after;
    }
    return after;
  }

  /** Whether the last message had the same notes and died the same death, so that the new notes can be shared. */
  #isKnown(letter: PendingLetter, message: Message, time: number): boolean {
    const known = this.#death;
    return (
      known !== undefined &&
      message.notes === this.#before &&
      time === known.time &&
      letter.reason === known.reason &&
      message.routingKey === known.routingKeys[0] &&
      message.exchange === known.exchange
    );
  }
}

/** Rule H5. */
function deathOf(letter: PendingLetter, message: Message, time: number): DeathEntry {
  const { routingKey, exchange, carbonCopies: copies } = message;
  const routingKeys = copies === undefined ? [routingKey] : [routingKey, ...copies.cc];
  return { queue: letter.queue.name, reason: letter.reason, exchange, routingKeys, count: 1, time };
}

/**
 * The origin at the first death: the address to which the message was published. The rights of the publisher were
 * checked for it.
 */
function originAt(message: Message, queue: string): Notes['origin'] {
  const { exchange, routingKey } = message.origin ?? message;
  return { exchange, routingKey, queue };
}

/** The message's own properties without CC keys that are not kept (rule H2), and with the headers of a rejection. */
function ownAfter(letter: PendingLetter, { own }: Message, { removesCarbonCopies }: Dialect): Properties {
  const dropsCc = removesCarbonCopies && letter.routingKey !== undefined && own.headers?.has('CC') === true;
  if (!dropsCc && letter.headers === undefined) return own;
  const headers = new Map<string, Field>(own.headers);
  if (dropsCc) headers.delete('CC');
  for (const [name, value] of letter.headers ?? []) headers.set(name, value);
  return withHeaders(own, compact(headers), own.expiration);
}
