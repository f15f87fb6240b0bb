import type { DeathReason, FieldTable, Message } from '../../message/index.js';
import type { Connection } from '../channel/connection.js';
import type { Deque } from '../deque.js';
import type { Journal } from '../ports.js';
import { Alarm, type Wakeups } from '../wakeups.js';
import { Consumers, type Taker } from './consumers.js';
import { DeadLetter } from './dead-letter.js';
import { Entry, type Place } from './entry.js';
import { Lease } from './lease.js';
import { exceeds, isBounded, overflowPolicies } from './overflow.js';
import { PriorityList } from './priority-list.js';
import type { QueueType } from './queue-types.js';
import { type Ready, ReadyList } from './ready-list.js';
import { Retained } from './retained.js';
import type { QueueSettings } from './settings.js';

/** What a queue borrows from its virtual host. */
export interface QueueHome {
  readonly name: string;
  readonly wakeups: Wakeups;
  /** Where deaths are handed in; the virtual host carries them on after the command. */
  readonly dead: Deque<DeadLetter>;
  readonly journal: Journal | undefined;
  /** Asks for a call of `attend` when the command is over. */
  attend(queue: Queue): void;
  /** It is no longer wanted: its time is up (rule B12) or its last consumer left (rule O5). */
  drop(queue: Queue): void;
}

/** What was declared. */
export interface QueueDeclared {
  readonly name: string;
  readonly type: QueueType;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  /** The connection an exclusive queue belongs to (rule O4). */
  readonly owner: Connection | undefined;
  readonly arguments: FieldTable;
}

/** One queue: messages waiting in order, those in consumers' hands counted, and the ways out of it. */
export class Queue {
  readonly name: string;
  readonly declared: QueueDeclared;
  readonly consumers: Consumers;
  /** Exchanges that have a binding to it, to be told when it goes. */
  readonly boundTo = new Set<{ forget(queue: Queue): void }>();
  /** Set when it is deleted: settlements that arrive later are accepted and change nothing (rule A5). */
  deleted = false;
  /** Attention is already asked for; the agenda's own mark. */
  attended = false;
  unacked = 0;
  /** Names of the policies in force, for those who look. */
  policy: string | undefined;
  operatorPolicy: string | undefined;
  readonly #home: QueueHome;
  readonly #ready: Ready;
  readonly #headAlarm: Alarm;
  readonly #lease: Lease;
  #retained: Retained | undefined;
  #settings: QueueSettings;
  #bounded: boolean;
  #refusesOverflow: boolean;
  /** A policy came that the queue does not fit yet: the excess is dropped first (rule C14). */
  #shortening = false;
  #nextPosition = 1;

  constructor(home: QueueHome, declared: QueueDeclared, settings: QueueSettings, now: number) {
    this.#home = home;
    this.name = declared.name;
    this.declared = declared;
    this.consumers = new Consumers(settings.singleActiveConsumer);
    this.#ready = settings.maxPriority === undefined ? new ReadyList() : new PriorityList(settings.maxPriority);
    this.#headAlarm = new Alarm(() => home.attend(this));
    this.#settings = settings;
    this.#bounded = isBounded(settings);
    this.#refusesOverflow = overflowPolicies[settings.overflow].refuses;
    const timeToLive = (): number | undefined => (this.consumers.count > 0 ? undefined : this.#settings.expires);
    this.#lease = new Lease(home.wakeups, timeToLive, () => home.drop(this));
    this.touch(now);
  }

  get settings(): QueueSettings {
    return this.#settings;
  }

  get home(): QueueHome {
    return this.#home;
  }

  /** Ready messages; what declare-ok tells (rule O1). */
  get length(): number {
    return this.#ready.length;
  }

  /** Bodies of the ready messages, in bytes. */
  get bytes(): number {
    return this.#ready.bytes;
  }

  /** At-least-once dead letters on their way (rule M3). */
  get retained(): number {
    return this.#retained?.count ?? 0;
  }

  /** Looks at the ready messages from the next to the last, changing nothing; false ends it. */
  peek(visit: (entry: Entry) => boolean | void): void {
    this.#ready.each(visit);
  }

  /**
   * Puts a message back that outlived the process (section L): those never returned by position, then the others. Limits
   * and deadlines act when the command is over (rule L2).
   */
  restore(message: Message, { position, deadline, returns, delivered }: Place, now: number): Entry {
    const entry = new Entry(message, position, deadline);
    entry.returns = returns;
    this.#nextPosition = Math.max(this.#nextPosition, position + 1);
    if (delivered) {
      this.unacked++; // rule L1: whoever held it is lost
      this.giveBack(entry, now, true);
    } else if (returns === 0) {
      this.#ready.push(entry);
    } else {
      this.#ready.giveBack(entry, this.declared.type === 'classic' ? 'original' : 'front');
    }
    this.#home.attend(this);
    return entry;
  }

  /** Takes a message, or refuses it: false (rules C3 to C8). */
  enqueue(message: Message, now: number): boolean {
    if (this.#bounded && this.#refusesOverflow && this.#wouldExceed(message)) {
      this.#refuse(message, now);
      return false;
    }
    const entry = new Entry(message, this.#nextPosition++, this.#deadline(message, now));
    const taker = this.#ready.length === 0 && this.consumers.count > 0 ? this.consumers.next() : undefined;
    if (taker !== undefined) {
      this.#home.journal?.enqueued(this, entry);
      this.#handedOut(entry);
      taker.take(entry); // rules B10, C4: a consumer that is ready comes before every limit
      return true;
    }
    this.#ready.push(entry);
    this.#home.journal?.enqueued(this, entry);
    // While a policy's excess is still being dropped, this message waits for that, too.
    const dropped = this.#bounded && !this.#shortening && this.#dropHead(now, Infinity) > 0;
    if (dropped || (entry.deadline !== 0 && this.#ready.first() === entry)) this.#headChanged(now);
    return true;
  }

  /** For `basic.get`: the next live message, which is then in the caller's hands. */
  take(now: number): Entry | undefined {
    this.touch(now);
    this.#expireHeads(now, Infinity);
    const entry = this.#ready.shift();
    if (entry === undefined) return undefined;
    this.#handedOut(entry);
    this.#headChanged(now); // rule B5: at once
    return entry;
  }

  /** It was acked, or delivered without need of an ack. */
  settle(entry: Entry): void {
    if (this.deleted) return;
    this.unacked--;
    this.#home.journal?.settled(this, entry);
  }

  /** It was rejected for good (rule A2). */
  reject(entry: Entry, now: number, headers?: FieldTable): void {
    if (this.deleted) return;
    this.unacked--;
    this.#die(entry, 'rejected', now, headers);
  }

  /**
   * It comes back; the queue is attended after the command, when all that return together are there (rules C6, J2).
   * @param lost its channel ended: then a quorum queue has it first again even without a limit (rule D5)
   */
  giveBack(entry: Entry, now: number, lost: boolean): void {
    if (this.deleted) return;
    this.unacked--;
    entry.returns++;
    const limit = this.#settings.deliveryLimit;
    this.#home.attend(this);
    if (limit !== undefined && entry.returns > limit) return this.#die(entry, 'delivery_limit', now); // rule D2
    if (this.declared.type === 'classic') {
      this.#ready.giveBack(entry, 'original');
    } else {
      const to = limit === undefined && !lost ? 'back' : 'front'; // rule D5
      if (to === 'back') entry.position = this.#nextPosition++;
      this.#ready.giveBack(entry, to);
    }
    this.#home.journal?.returned(this, entry);
  }

  /**
   * Brings the queue to rest: limits, then expiry, then deliveries, as RabbitMQ does after a requeue; a quorum queue
   * delivers first and then looks whether it is too long (rule C6).
   * @param limit steps at most
   * @returns steps taken; as many as the limit when there may be more to do
   */
  attend(now: number, limit: number): number {
    if (this.deleted) return 0;
    const shortensFirst = this.declared.type === 'classic';
    let steps = shortensFirst ? this.#shorten(now, limit) : 0;
    steps += this.#expireHeads(now, limit - steps);
    while (steps < limit && this.#ready.length > 0) {
      const taker = this.consumers.count > 0 ? this.consumers.next() : undefined;
      if (taker === undefined) break;
      const entry = this.#ready.shift() as Entry;
      this.#handedOut(entry);
      taker.take(entry);
      steps += 1 + this.#expireHeads(now, limit - steps);
    }
    if (!shortensFirst) steps += this.#shorten(now, limit - steps);
    this.#arm();
    return steps;
  }

  /** Drops all ready messages, dead-lettering none (rules A8, O6). */
  purge(): number {
    const count = this.#ready.length;
    const { journal } = this.#home;
    if (journal !== undefined) this.#ready.each((entry) => journal.settled(this, entry));
    this.#ready.clear();
    this.#home.wakeups.unset(this.#headAlarm);
    return count;
  }

  /** Ends the queue: nothing in it is dead-lettered (rule A8). Consumers are told by the caller. */
  end(): readonly Taker[] {
    this.deleted = true;
    this.#ready.clear();
    this.#retained?.clear();
    this.#home.wakeups.unset(this.#headAlarm);
    this.#lease.stop();
    return this.consumers.removeAll();
  }

  addConsumer(taker: Taker): void {
    this.consumers.add(taker);
    this.#lease.stop();
    this.#home.attend(this);
  }

  removeConsumer(taker: Taker, now: number): void {
    if (this.deleted) return;
    this.consumers.remove(taker);
    if (this.consumers.count > 0) return this.#home.attend(this);
    this.touch(now);
    if (this.declared.autoDelete) this.#home.drop(this);
  }

  /** A consumer has room again. */
  revive(taker: Taker): void {
    if (this.deleted) return;
    this.consumers.revive(taker);
    if (this.#ready.length > 0) this.#home.attend(this);
  }

  /** The queue was used: its own time to live starts anew (rule B12). */
  touch(now: number): void {
    if (this.#settings.expires !== undefined) this.#lease.touch(now);
  }

  /** A policy came, changed or went (rules F6, C14). Deadlines of waiting messages stay (rule B4). */
  apply(settings: QueueSettings, now: number): void {
    const before = this.#settings;
    this.#settings = settings;
    this.#bounded = isBounded(settings);
    this.#refusesOverflow = overflowPolicies[settings.overflow].refuses;
    // Rule C14: the length takes effect before the overflow, so what was drop-head drops once more.
    if (this.#bounded && !overflowPolicies[before.overflow].refuses) this.#shortening = true;
    if (settings.expires !== before.expires) {
      this.#lease.stop();
      this.touch(now);
    }
    if (settings.deadLetterStrategy !== 'at-least-once') {
      for (const letter of this.#retained?.clear() ?? []) this.#home.journal?.settled(this, letter.entry); // rule M4
    }
    this.#home.attend(this);
  }

  /** An at-least-once dead letter has arrived everywhere, or could not (rule M3). */
  finish(letter: DeadLetter, arrived: boolean, now: number): void {
    if (!letter.retained) return this.#home.journal?.settled(this, letter.entry);
    if (this.#retained === undefined || !this.#retained.has(letter)) return;
    if (!arrived) return this.#retained.strand(letter, now);
    this.#retained.release(letter);
    this.#home.journal?.settled(this, letter.entry);
  }

  #deadline(message: Message, now: number): number {
    const { expiration } = message.properties;
    const { messageTtl } = this.#settings;
    if (expiration === undefined) return messageTtl === undefined ? 0 : now + messageTtl;
    const own = Number(expiration);
    return now + (messageTtl === undefined || own < messageTtl ? own : messageTtl); // rule B4
  }

  #wouldExceed(message: Message): boolean {
    const { length, bytes } = this.#ready;
    const retained = this.#retained; // rule M5
    if (retained === undefined) return exceeds(this.#settings, length + 1, bytes + message.body.length);
    return exceeds(this.#settings, length + retained.count + 1, bytes + retained.bytes + message.body.length);
  }

  #refuse(message: Message, now: number): void {
    if (!overflowPolicies[this.#settings.overflow].deadLettersRefused) return;
    if (this.#settings.deadLetterExchange === undefined) return;
    // Rule C8: the refused message dies without ever having been in the queue.
    this.#die(new Entry(message, 0, 0), 'maxlen', now);
  }

  #shorten(now: number, limit: number): number {
    const steps = this.#bounded ? this.#dropHead(now, limit) : 0;
    if (steps < limit) this.#shortening = false;
    return steps;
  }

  #dropHead(now: number, limit: number): number {
    if (this.#refusesOverflow && !this.#shortening) return 0;
    let steps = 0;
    for (; steps < limit && exceeds(this.#settings, this.#ready.length, this.#ready.bytes); steps++)
      this.#die(this.#ready.shift() as Entry, 'maxlen', now);
    return steps;
  }

  /** Rules B5 to B7: from the head, as far as the dead stand in a row. */
  #expireHeads(now: number, limit: number): number {
    let steps = 0;
    for (let head = this.#ready.first(); head !== undefined && steps < limit; head = this.#ready.first()) {
      if (head.deadline === 0 || head.deadline > now) break;
      this.#ready.shift();
      this.#die(head, 'expired', now);
      steps++;
    }
    return steps;
  }

  #headChanged(now: number): void {
    if (this.attended) return;
    this.#expireHeads(now, Infinity);
    this.#arm();
  }

  /** One alarm for the head, never one per message; one that rings too early just looks again. */
  #arm(): void {
    const head = this.#ready.first();
    if (head === undefined || head.deadline === 0) return;
    if (!this.#headAlarm.isSet || this.#headAlarm.time > head.deadline) {
      this.#home.wakeups.set(this.#headAlarm, head.deadline);
    }
  }

  #die(entry: Entry, reason: DeathReason, now: number, headers?: FieldTable): void {
    const { deadLetterExchange, deadLetterRoutingKey: key, deadLetterStrategy } = this.#settings;
    if (deadLetterExchange === undefined) return this.#home.journal?.settled(this, entry); // rule A7
    const retained = deadLetterStrategy === 'at-least-once';
    const letter = new DeadLetter(this, entry, reason, now, deadLetterExchange, key, headers, retained);
    if (retained) {
      this.#retained ??= new Retained(this.#home.wakeups, this.#home.dead, () => this.#home.attend(this));
      this.#retained.add(letter);
    }
    this.#home.dead.push(letter);
  }

  #handedOut(entry: Entry): void {
    this.unacked++;
    this.#home.journal?.delivered(this, entry);
  }
}
