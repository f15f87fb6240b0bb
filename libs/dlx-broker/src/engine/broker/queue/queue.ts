import type { DeathReason, FieldTable, Message, StoreSlot } from '../../message/index.js';
import { QueueCounters } from '../counters.js';
import type { QueueDeclared } from '../declarations.js';
import type { ScheduledQueue } from '../scheduler/scheduler.js';
import { Bounds, HeadDropping } from './bounds.js';
import { Consumers, type ConsumerView } from './consumers.js';
import { type Ahead, Contents, type ContentsHome } from './contents.js';
import { DeadLettering, type DeadLetteringHome, type DyingQueue, type PendingLetter } from './dead-lettering.js';
import { type Entry, entryAt, entryOf, undelivered, type Place, type Return } from './entry.js';
import { Pausing } from './pausing.js';
import { readyListOf } from './priority-list.js';
import { purge, type PurgeHome } from './purging.js';
import { expiredPerCommand, HeadTimer, Lease } from './queue-timers.js';
import { type Browse, type Browsed, pageOf, type Ready } from './ready-list.js';
import { deadlineOf, type InForce } from './settings.js';

/** What a queue needs of its virtual host. */
export interface QueueHome extends ContentsHome, DeadLetteringHome, PurgeHome {
  /** Asks for a call of `serve` when the command is over. */
  scheduleQueue(queue: ScheduledQueue): void;
  /** Deletes the queue of this name: it was unused for too long (rule B12), or its last consumer left (rule O5). */
  dropQueue(name: string): void;
  /** Ends the pause of the queue of this name (rule X3). */
  resumeQueue(name: string): void;
}

/** A queue: its ready messages in order, its unacknowledged messages, and how messages leave it. */
export class Queue implements DyingQueue, ScheduledQueue {
  readonly name: string;
  readonly home: QueueHome;
  readonly declared: QueueDeclared;
  readonly consumers: Consumers;
  readonly counters = new QueueCounters();
  /** When it was last used, in milliseconds since 1970. */
  lastUse = NaN; // a double from the start: V8 stores it in place
  /** Exchanges with a binding to it, which forget the binding when it is deleted. */
  readonly boundTo = new Set<{ forget(queue: Queue): unknown }>();
  /** Set when it is deleted: settlements that arrive later are accepted and change nothing (rule A5). */
  deleted = false;
  /** Only the scheduler writes it. */
  isScheduled = false;
  /** Written and read by the store only; undefined while the store does not have this object. */
  slot: StoreSlot | undefined = undefined;
  unacked = 0;
  /** The policies that apply to the queue, and the settings that result from them and the arguments. Only {@link apply} writes it. */
  inForce: InForce;
  /** What happens to the messages that die in it. */
  readonly deadLettering: DeadLettering;
  /** Whether consumers get messages (section X). */
  readonly pausing: Pausing;
  /** Asks for a call of `serve` when the command is over. */
  readonly #schedule: () => void;
  #ready: Ready;
  readonly #contents: Contents;
  readonly #bounds: Bounds;
  readonly #dropping: HeadDropping;
  readonly #headTimer: HeadTimer;
  readonly #lease: Lease;
  readonly #countsFailuresApart: boolean;
  #settings: InForce['settings'];
  #nextPosition = 1;

  constructor(home: QueueHome, declared: QueueDeclared, inForce: InForce, now: number) {
    const { settings } = inForce;
    this.home = home;
    this.#schedule = () => home.scheduleQueue(this);
    this.lastUse = now;
    this.name = declared.name;
    this.declared = declared;
    this.consumers = new Consumers(settings.singleActiveConsumer, declared.type === 'quorum');
    this.#countsFailuresApart = home.profile.countsFailuresApart;
    this.#ready = readyListOf(declared.type, settings, home.profile, home.packer);
    this.#contents = new Contents(this.#ready, home, this.#countsFailuresApart, this.#schedule);
    this.#headTimer = new HeadTimer(home.timers, this.#ready, this.#schedule);
    this.inForce = inForce;
    this.#settings = settings;
    this.deadLettering = new DeadLettering(this, this.#schedule);
    this.#bounds = new Bounds(settings, declared.type === 'quorum', this.#contents, this.deadLettering);
    const drop = (entry: Entry, then: number): void => this.#die(entry, 'maxlen', then);
    this.#dropping = new HeadDropping(this.#bounds, this.#contents, drop, this.#schedule);
    const timeToLive = (): number | undefined => (this.consumers.count > 0 ? undefined : this.#settings.expires);
    this.#lease = new Lease(home.timers, timeToLive, () => home.dropQueue(this.name));
    this.pausing = new Pausing(this, this.#lease, this.#schedule);
    this.touch(now);
  }

  get settings(): InForce['settings'] {
    return this.#settings;
  }

  /** Ready messages, as in declare-ok (rule O1). */
  get length(): number {
    return this.#ready.length;
  }

  /** Ready messages of each priority from 0; undefined without priorities. */
  get lengths(): readonly number[] | undefined {
    return this.#ready.lengths?.();
  }

  /** Bodies of the ready messages, in bytes. */
  get bytes(): number {
    return this.#ready.bytes;
  }

  /** At-least-once dead letters on their way (rule M3). */
  get retained(): number {
    return this.deadLettering.retained?.count ?? 0;
  }

  /** Messages delayed after their return: they count for the length limits, but not in declare-ok (rule W7). */
  get delayed(): number {
    return this.#contents.delayed;
  }

  /** Bodies of the unacknowledged messages, in bytes. */
  get bytesUnacked(): number {
    return this.#contents.bytesUnacked;
  }

  /** Ready or unacked messages that were published as persistent, and their bodies in bytes. */
  get persistent(): { readonly count: number; readonly bytes: number } {
    return { count: this.#contents.persistent, bytes: this.#contents.persistentBytes };
  }

  /** The next message; undefined when none is ready. */
  get head(): Message | undefined {
    return this.#ready.first()?.message;
  }

  /** Why the queue delivers nothing: the body of its next message cannot be read now. Undefined while it delivers. */
  get stalled(): Contents['stalled'] {
    return this.#contents.stalled;
  }

  /** A page of the ready messages in the order of delivery; nothing is delivered, counted or flagged. */
  browse(browse: Browse): Browsed {
    return pageOf(this.#ready, browse);
  }

  /** The position of the newest message; later messages have higher positions. */
  get lastPosition(): number {
    return this.#nextPosition - 1;
  }

  /**
   * The ready message of this position. In a long queue the entry is made at each call, so two calls may return two objects: compare
   * positions, and not entries.
   */
  find(position: number): Entry | undefined {
    return this.#ready.find(position);
  }

  /** Whether the message of this position is ready. */
  has(position: number): boolean {
    return this.#ready.has(position);
  }

  /**
   * Part of a command: a ready message leaves without a death.
   * @returns the queue's own entry, whose message can share its stored body; undefined if the message is not ready any more
   */
  withdraw({ position }: Entry, now: number): Entry | undefined {
    const entry = this.#contents.take(position);
    if (entry === undefined) return undefined;
    this.home.journal?.settled(this, entry);
    this.#headChanged(now);
    return entry;
  }

  /** See {@link Ready.sizeOf}. */
  sizeOf(message: Message): number {
    return this.#ready.sizeOf(message);
  }

  /**
   * Whether it would refuse a publish, because it is full (rule C7).
   * @param without an entry that is about to leave
   * @param ahead messages that the same command publishes before this one. All of them count as ready, even if a consumer would take
   *   them or they would expire (rule K15)
   */
  wouldRefuse(message: Message, without?: Entry, ahead?: Ahead): boolean {
    return this.#bounds.wouldRefuse(message, without, ahead);
  }

  /**
   * Calls `visit` for the ready messages from the next to the last, until it returns false. Changes nothing.
   * @param delayed gets the delayed messages in no order, each with the time at which it is ready, in milliseconds since 1970
   */
  peek(visit: (entry: Entry) => boolean | void, delayed?: (entry: Entry, due: number) => void): void {
    this.#ready.each(visit);
    if (delayed !== undefined) this.#contents.eachDelayed(delayed);
  }

  /**
   * Puts a message back that outlived the process (section L). A classic queue gets first those that were returned or
   * unacknowledged, then the others by position; a quorum queue gets the others first. Limits and deadlines act when
   * the command is over (rule L2).
   */
  restore(message: Message, place: Place, now: number): Entry {
    const { position, returns, delivered, death, due = 0, suspect = false, inOrder = false } = place;
    const entry = entryAt(message, place, this.#countsFailuresApart);
    const isNewest = position >= this.#nextPosition;
    if (isNewest) this.#nextPosition = position + 1;
    this.#schedule();
    if (death !== undefined) return this.deadLettering.restore(entry, death); // rule M3: it stays dead
    this.#contents.add(message);
    if (delivered) {
      this.unacked++; // rule L1: its consumer is lost
      this.giveBack(entry, now, 'lost');
    } else if (due > now) this.#contents.delay(entry, due);
    else this.#contents.restore(entry, isNewest && (returns === 0 || inOrder), this.declared.type);
    if (suspect && entry.returns === 0) entry.returns = 1; // it may have been delivered before
    return entry;
  }

  /**
   * Takes a message, or refuses it: false (rules C3 to C8).
   * @param letter a quorum queue never refuses an at-most-once dead letter (rule C13)
   */
  enqueue(message: Message, now: number, letter?: PendingLetter): boolean {
    if (this.wouldRefuse(message) && (letter?.retained !== false || !this.#bounds.isQuorum)) {
      this.deadLettering.refuse(message, now, letter);
      return false;
    }
    const deadline = deadlineOf(message, this.#settings, now);
    const entry = entryOf(message, this.#nextPosition++, deadline, this.#countsFailuresApart);
    if (letter !== undefined) entry.inherit(letter.entry);
    this.#contents.add(message);
    this.lastUse = now;
    const consumer = this.#ready.length === 0 && this.consumers.count > 0 ? this.consumers.next() : undefined;
    // First the journal: a push can make rows of older messages, perhaps of the one whose body this one shares.
    this.home.journal?.enqueued(this, entry);
    if (consumer !== undefined && this.#contents.ensureLoaded(this, message, now)) {
      // A classic queue shows a ready consumer a message that was never delivered, whatever was before its death (rule H1).
      const looksNew = letter !== undefined && !this.#bounds.isQuorum;
      if (looksNew) entry.inherit(undelivered);
      this.#handedOut(entry);
      consumer.take(entry); // rules B10, C4: a consumer that is ready comes before every limit
      if (looksNew) entry.inherit(letter.entry);
      this.consumers.took(consumer);
      return true;
    }
    this.#ready.push(entry);
    if (consumer !== undefined) this.#schedule();
    // While messages above a policy's new limit are being dropped in turns, this message waits for that.
    const dropped = this.#bounds.fitsPublishes && this.#dropping.fit(this.#settings, now);
    this.#bounds.observe();
    if (dropped || (entry.deadline !== 0 && this.#ready.isHead(entry))) this.#headChanged(now);
    return true;
  }

  /** Whether the newest message displaced very many messages, and not all of them are dropped yet. */
  get isTooLong(): boolean {
    return this.#bounds.isTooLong;
  }

  /**
   * Drops some of the messages that the newest one displaced. @param limit steps at most @returns steps taken; as many
   * as the limit when there may be more
   */
  dropExcess(now: number, limit: number): number {
    return this.#bounds.isTooLong && !this.deleted ? this.#dropping.shorten(this.#settings, now, limit) : 0;
  }

  /** Expires messages at its head. @param limit messages at most @returns how many; as many as the limit when there may be more */
  expire(now: number, limit: number): number {
    return this.deleted ? 0 : this.#expireHeads(now, limit);
  }

  /** Takes the next message that has not expired, for `basic.get`. The message is unacknowledged then. */
  take(now: number): Entry | undefined {
    this.lastUse = now;
    this.touch(now);
    this.dropExcess(now, Infinity);
    this.#expireHeads(now, Infinity);
    const entry = this.#contents.next(this, now);
    if (entry === undefined) return undefined;
    this.#handedOut(entry);
    this.#headChanged(now); // rule B5: at once
    return entry;
  }

  /** The entry was acked, or delivered to a consumer without acks. */
  settle(entry: Entry, now = this.lastUse): void {
    if (this.deleted) return;
    this.lastUse = now;
    this.unacked--;
    this.#contents.remove(entry.message);
    this.home.journal?.settled(this, entry);
  }

  /** The entry was rejected without requeue (rule A2). @param isFailure false for `basic.nack` (rule W6) */
  reject(entry: Entry, now: number, isFailure: boolean, headers?: FieldTable): void {
    if (this.deleted) return;
    if (isFailure) entry.countRejection();
    this.lastUse = now;
    this.unacked--;
    this.#bounds.observe();
    this.#die(entry, 'rejected', now, headers);
  }

  /**
   * The entry is returned. The queue is served after the command, when all entries that return together are back (rules
   * C6, J2).
   */
  giveBack(entry: Entry, now: number, how: Return): void {
    if (this.deleted) return;
    this.unacked--;
    this.#bounds.observe();
    entry.countReturn(how);
    const limit = this.#settings.deliveryLimit;
    this.#schedule();
    if (limit !== undefined && entry.failures > limit) return this.#die(entry, 'delivery_limit', now); // rule D2
    if (this.declared.type === 'classic') this.#ready.giveBack(entry, 'original');
    else if (this.#contents.returnToQuorum(entry, this.#settings, how, now, this.#nextPosition)) this.#nextPosition++;
    this.home.journal?.returned(this, entry);
  }

  /**
   * Does what is due: limits, then expiry, then deliveries, as RabbitMQ does after a requeue; a quorum queue delivers
   * first and then looks whether it is too long (rule C6), except for the excess of a publish.
   * @param limit steps at most
   * @returns steps taken; as many as the limit when there may be more to do
   */
  serve(now: number, limit: number): number {
    if (this.deleted) return 0;
    this.lastUse = now;
    const shortensFirst = this.declared.type === 'classic' || this.#bounds.isTooLong;
    let steps = shortensFirst ? this.#dropping.shorten(this.#settings, now, limit) : 0;
    steps += this.#expireHeads(now, limit - steps);
    while (steps < limit && this.#ready.length > 0) {
      const consumer = this.consumers.count > 0 ? this.consumers.next() : undefined;
      if (consumer === undefined) break;
      const entry = this.#contents.next(this, now);
      if (entry === undefined) break;
      this.#handedOut(entry);
      consumer.take(entry);
      this.consumers.took(consumer);
      steps += 1 + this.#expireHeads(now, limit - steps);
    }
    if (!shortensFirst) steps += this.#dropping.shorten(this.#settings, now, limit - steps);
    this.#bounds.observe();
    this.#headTimer.arm();
    return steps;
  }

  /**
   * Drops all ready messages, dead-lettering none (rules A8, O6). They are gone at once; many are cleared away and
   * reported to the journal in turns.
   * @returns how many there were
   */
  purge(): number {
    this.dropExcess(this.lastUse, Infinity);
    const count = this.length + this.delayed;
    this.#ready = this.#headTimer.watch(purge(this, this.#contents, count));
    return this.home.profile.purgesRetained ? count + this.deadLettering.forgetRetained() : count;
  }

  /** Deletes the queue: nothing in it is dead-lettered (rule A8). @returns its consumers, which the caller notifies */
  delete(): readonly ConsumerView[] {
    this.dropExcess(this.lastUse, Infinity);
    this.deleted = true;
    this.#contents.clear();
    this.deadLettering.retained?.clear();
    this.#headTimer.stop();
    this.#lease.stop();
    this.pausing.stop();
    return this.consumers.removeAll();
  }

  addConsumer(consumer: ConsumerView): void {
    this.consumers.add(consumer);
    this.#lease.stop();
    this.#schedule();
  }

  removeConsumer(consumer: ConsumerView, now: number): void {
    if (this.deleted) return;
    this.consumers.remove(consumer);
    if (this.consumers.count > 0) return this.#schedule();
    this.touch(now);
    if (this.declared.autoDelete) this.home.dropQueue(this.name);
  }

  /** The consumer has room again: it gets messages. */
  revive(consumer: ConsumerView): void {
    if (this.deleted) return;
    this.consumers.revive(consumer);
    if (this.#ready.length > 0) this.#schedule();
  }

  /** The queue was used: its own time to live starts anew (rule B12). */
  touch(now: number): void {
    if (this.#settings.expires !== undefined) this.#lease.touch(now);
  }

  /**
   * A policy was added, changed or deleted (rules F6, C14). Deadlines of waiting messages stay (rule B4). The queue's own time
   * to live starts again when another policy applies, or the policy has changed (rule B12).
   */
  apply(inForce: InForce, now: number): void {
    const { settings, policy, operatorPolicy } = inForce;
    const isOther = policy !== this.inForce.policy || operatorPolicy !== this.inForce.operatorPolicy;
    this.inForce = inForce;
    this.#settings = settings;
    this.#bounds.apply(settings);
    if (isOther) this.#lease.restart(now);
    if (settings.deadLetterStrategy !== 'at-least-once') this.deadLettering.forgetRetained();
    this.#schedule();
  }

  /** Expires messages from the head on, up to the first that has not expired (rules B5 to B7). */
  #expireHeads(now: number, limit: number): number {
    for (let steps = 0; steps < limit; steps++) {
      const dead = this.#ready.shiftExpired(now);
      if (dead === undefined) return steps;
      this.#die(dead, 'expired', now);
    }
    return limit;
  }

  #headChanged(now: number): void {
    if (this.isScheduled) return;
    if (this.#expireHeads(now, expiredPerCommand) >= expiredPerCommand) this.#schedule();
    this.#headTimer.arm();
  }

  #die(entry: Entry, reason: DeathReason, now: number, headers?: FieldTable): void {
    this.#contents.remove(entry.message);
    this.deadLettering.die(entry, reason, now, headers);
  }

  #handedOut(entry: Entry): void {
    this.unacked++;
    this.home.journal?.delivered(this, entry);
  }
}
