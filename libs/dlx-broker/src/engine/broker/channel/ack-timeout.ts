import type { Clock } from '../ports.js';
import { Timer, type Timers } from '../scheduler/timers.js';
import type { Outstanding } from './outstanding.js';
import type { Unacked } from './unacked.js';

/** How long a delivery may stay unacknowledged by default, in milliseconds (rule Q8). */
export const defaultConsumerTimeout = 1_800_000;

/** The longest time between two checks, in milliseconds. */
const interval = 60_000;
/** The shortest timeout, in milliseconds. */
export const minConsumerTimeout = 1_000;

/** What an ack timeout watches. */
export interface AckTimeoutParts {
  readonly timers: Timers;
  readonly unacked: Unacked;
  readonly lastTag: () => number;
  /** How long a delivery may stay unacknowledged, in milliseconds; Infinity for ever. */
  readonly limitOf: (oldest: Outstanding) => number;
  /** Called with the limit when the oldest delivery has reached it. */
  readonly timedOut: (limit: number) => void;
}

/**
 * Watches the oldest unacknowledged delivery of a channel. It stores no time for each delivery: once a minute it stores the time with
 * the last delivery tag. So a channel ends within a minute after the limit, and never before it, as in RabbitMQ.
 */
export class AckTimeout {
  readonly #timer: Timer;
  #marks: { readonly time: number; readonly tag: number }[] = [];

  constructor(private readonly parts: AckTimeoutParts) {
    this.#timer = new Timer((now) => this.#check(now));
  }

  /** Begins to watch, unless it is watching. @param first the oldest unacknowledged delivery */
  start(clock: Clock, first: Outstanding): void {
    if (this.#timer.isSet) return;
    const now = clock.now();
    this.#marks = [{ time: now, tag: first.deliveryTag }];
    this.#setTimer(now, now + this.#limitOf(first));
  }

  stop(): void {
    this.parts.timers.unset(this.#timer);
  }

  #check(now: number): void {
    const { unacked, lastTag, timedOut } = this.parts;
    const oldest = unacked.first();
    if (oldest === undefined) return;
    const marks = this.#marks;
    if ((marks.at(-1)?.tag ?? 0) < lastTag()) marks.push({ time: now, tag: lastTag() });
    while (marks[0]!.tag < oldest.deliveryTag) marks.shift();
    const limit = this.#limitOf(oldest);
    const end = marks[0]!.time + limit; // the oldest was delivered at the time of this mark or earlier
    if (now >= end) return timedOut(limit);
    this.#setTimer(now, end);
  }

  #setTimer(now: number, end: number): void {
    this.parts.timers.set(this.#timer, Math.min(now + interval, end));
  }

  #limitOf(oldest: Outstanding): number {
    return Math.max(minConsumerTimeout, this.parts.limitOf(oldest));
  }
}
