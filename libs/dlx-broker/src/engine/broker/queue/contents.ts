import { isLost, type Message } from '../../message/index.js';
import type { QueueCounters, TotalCounters } from '../counters.js';
import type { QueueType } from '../declarations.js';
import type { Journal, MessageOwner } from '../ports.js';
import type { Timers } from '../scheduler/timers.js';
import { DelayedReturns, quorumReturn, retryDelay } from './delayed-returns.js';
import type { Entry, Return } from './entry.js';
import { exceeds, type LengthLimits } from './overflow.js';
import type { Ready } from './ready-list.js';
import type { Retained, RetainedLetter } from './retained.js';
import type { QueueSettings } from './arguments.js';
import { Stall, type Stalled, type Stalls } from './stall.js';

/** A queue, as its contents know it. */
interface ContentsQueue extends MessageOwner {
  readonly counters: QueueCounters;
}

/** Messages that come to a queue before another one, and their bodies in bytes. */
export interface Ahead {
  readonly count: number;
  readonly bytes: number;
}

/** What the contents of a queue need of its virtual host. */
export interface ContentsHome {
  readonly timers: Timers;
  readonly counters: TotalCounters;
  readonly journal: Journal | undefined;
  /** The queues that deliver nothing, because a body cannot be read. */
  readonly stalls: Stalls;
}

/**
 * What a queue holds: messages that are ready, delayed, or unacknowledged, and the sums of their numbers and bytes.
 */
export class Contents {
  /** Sum of the sizes of all messages. */
  bytes = 0;
  /** Messages published as persistent. */
  persistent = 0;
  persistentBytes = 0;
  #delayed: DelayedReturns | undefined;
  #stall: Stall | undefined;

  constructor(
    public ready: Ready,
    readonly home: ContentsHome,
    readonly countsFailuresApart: boolean,
    /** Called when delayed messages have become ready, or a stall is over. */
    readonly wake: () => void,
  ) {}

  /** Messages that are delayed after their return (rule W7). */
  get delayed(): number {
    return this.#delayed?.count ?? 0;
  }

  get bytesUnacked(): number {
    return this.bytes - this.ready.bytes - (this.#delayed?.bytes ?? 0);
  }

  /** Why the queue delivers nothing; undefined while it delivers. */
  get stalled(): Stalled | undefined {
    return this.#stall !== undefined && this.#stall.failures > 0 ? this.#stall : undefined;
  }

  /**
   * Removes the next ready message, with its body in memory. Undefined when there is none, or when the body cannot be read now:
   * then every message keeps its place, and the queue is served again later. A message whose body is lost is dropped.
   */
  next(queue: ContentsQueue, now: number): Entry | undefined {
    for (;;) {
      const entry = this.ready.first();
      if (entry === undefined || entry.message.isLoaded) break;
      if (this.#stall?.isWaiting === true) return undefined;
      const found = this.#load(queue, entry.message, now);
      if (found === 'later') return undefined;
      if (found === 'loaded') break;
      this.ready.shift();
      this.#lose(queue, entry);
    }
    this.#stall?.over();
    return this.ready.shift();
  }

  /** Removes the ready message of a position, also from the sums. */
  take(position: number): Entry | undefined {
    const entry = this.ready.take(position);
    if (entry !== undefined) this.remove(entry.message);
    return entry;
  }

  /** Loads the body of a message that is about to leave. @returns false when the body cannot be read */
  ensureLoaded(queue: ContentsQueue, message: Message, now: number): boolean {
    return message.isLoaded || this.#load(queue, message, now) === 'loaded';
  }

  /** Loads a body. One that cannot be read now stalls the queue. */
  #load(queue: ContentsQueue, message: Message, now: number): 'loaded' | 'lost' | 'later' {
    try {
      message.load();
      return 'loaded';
    } catch (error) {
      if (isLost(error)) return 'lost';
      this.#stallOf(queue).failed(error, now);
      return 'later';
    }
  }

  /** Drops a message whose body is lost. The entry has left the ready list. */
  #lose(queue: ContentsQueue, entry: Entry): void {
    queue.counters.lost++;
    this.home.counters.lost++;
    this.remove(entry.message);
    this.home.journal?.settled(queue, entry);
  }

  #stallOf(queue: ContentsQueue): Stall {
    return (this.#stall ??= new Stall(queue, this.home.timers, this.home.stalls, (now) => this.#retry(now)));
  }

  /** Tries to read the body of the head again, which may be another message by now. Does so without a consumer, too, to end the stall. */
  #retry(now: number): void {
    const head = this.ready.first()?.message;
    try {
      if (head?.isLoaded === false) void head.body;
    } catch (error) {
      if (!isLost(error)) return this.#stall?.failed(error, now);
    }
    this.#stall?.over();
    this.wake();
  }

  /** Counts a new message. */
  add(message: Message): void {
    const size = this.ready.sizeOf(message);
    this.bytes += size;
    if (message.own.deliveryMode !== 2) return;
    this.persistent++;
    this.persistentBytes += size;
  }

  /** Subtracts a message that has left the queue from the sums. */
  remove(message: Message): void {
    this.bytes -= this.ready.sizeOf(message);
    this.removePersistent(message);
  }

  /** Subtracts a persistent message whose bytes were already subtracted from {@link bytes}. */
  removePersistent(message: Message): void {
    if (message.own.deliveryMode !== 2) return;
    this.persistent--;
    this.persistentBytes -= this.ready.sizeOf(message);
  }

  /**
   * A message comes back to a quorum queue (rules D5, W7): it is delayed, or goes to the front or to the back.
   * @param next position of one that goes to the back
   * @returns whether it has that position now
   */
  returnToQuorum(entry: Entry, settings: QueueSettings, how: Return, now: number, next: number): boolean {
    const delay = settings.delayedRetryType === undefined ? 0 : retryDelay(settings, entry, how);
    if (delay > 0) {
      this.delay(entry, now + delay);
      return false;
    }
    const to = quorumReturn(settings, how, this.countsFailuresApart);
    if (to === 'back') entry.position = next;
    this.ready.giveBack(entry, to);
    return to === 'back';
  }

  /**
   * Delays a returned message until a time. Then it becomes ready among the returned messages, before all others (rule W7).
   */
  delay(entry: Entry, time: number): void {
    const release = (entries: readonly Entry[]): void => {
      for (const due of entries) this.ready.giveBack(due, 'front');
      this.wake();
    };
    this.#delayed ??= new DelayedReturns(this.home.timers, (message) => this.ready.sizeOf(message), release);
    this.#delayed.add(entry, time);
  }

  /**
   * Puts an entry back that was ready before a restart. An entry that is not the last may be a dead letter that had left but had not
   * arrived: it stands before some of the returned messages.
   * @param isLast true if it stands behind all messages so far, and none will be put before it
   */
  restore(entry: Entry, isLast: boolean, type: QueueType): void {
    if (isLast) this.ready.push(entry);
    else this.ready.giveBack(entry, type === 'classic' ? 'original' : 'front');
  }

  eachDelayed(visit: (entry: Entry, due: number) => void): void {
    this.#delayed?.each(visit);
  }

  /** Whether the messages exceed a length limit (rules C1, W7). */
  exceedsLimit(settings: QueueSettings): boolean {
    return this.ready.length > 0 && this.wouldExceed(settings, undefined, 0, 0);
  }

  /**
   * Whether the messages would exceed a length limit with further ones.
   * @param retained at-least-once dead letters, which count as well (rule M5)
   * @param count the number of the further messages; negative for messages that are about to leave
   * @param bytes the bodies of the further messages
   */
  wouldExceed(
    limits: LengthLimits,
    retained: Retained<RetainedLetter> | undefined,
    count: number,
    bytes: number,
  ): boolean {
    const delayed = this.#delayed;
    return exceeds(
      limits,
      this.ready.length + (delayed?.count ?? 0) + (retained?.count ?? 0) + count,
      this.ready.bytes + (delayed?.bytes ?? 0) + (retained?.bytes ?? 0) + bytes,
    );
  }

  /**
   * Removes all but unacknowledged messages, in a time that does not depend on their number. The sums of persistent messages still
   * have them, see {@link removePersistent}.
   * @param ready an empty list for later messages
   */
  takeAll(ready: Ready): PurgedMessages {
    const taken = new PurgedMessages(this.ready, this.#delayed);
    this.bytes -= this.ready.bytes + (this.#delayed?.bytes ?? 0);
    this.#stall?.over();
    this.#delayed?.abandon();
    this.#delayed = undefined;
    this.ready = ready;
    return taken;
  }

  /** Discards all but unacknowledged messages when the queue is deleted. */
  clear(): void {
    this.#stall?.over();
    this.ready.clear();
    this.#delayed?.clear();
  }
}

/** The messages that a purge removed, to be dropped one by one. */
export class PurgedMessages {
  constructor(
    readonly ready: Ready,
    /** Abandoned. */
    readonly delayed: DelayedReturns | undefined,
  ) {}

  /** Undefined when there is none left. */
  next(): Entry | undefined {
    return this.ready.shift() ?? this.delayed?.shift();
  }
}
