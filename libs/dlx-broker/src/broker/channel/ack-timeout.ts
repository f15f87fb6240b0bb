import type { Clock } from '../ports.js';
import { Timer, type Timers } from '../scheduler/timers.js';
import type { Unacked } from './unacked.js';

/** How long a delivery may stay unacknowledged, in milliseconds (rule Q8). */
export const consumerTimeout = 1_800_000;
const interval = 60_000;

/**
 * Watches the oldest unacknowledged delivery of a channel. Instead of a time on every delivery it remembers, once a
 * minute, how far the tags had come, which is as exact as RabbitMQ's own check.
 */
export class AckTimeout {
  readonly #timer: Timer;
  #marks: { readonly time: number; readonly tag: number }[] = [];

  constructor(
    readonly timers: Timers,
    readonly unacked: Unacked,
    readonly lastTag: () => number,
    readonly timedOut: () => void,
  ) {
    this.#timer = new Timer((now) => this.#look(now));
  }

  /** Begins to watch, unless it does already. */
  start(clock: Clock): void {
    if (this.#timer.isSet) return;
    this.#marks = [];
    this.timers.set(this.#timer, clock.now() + interval);
  }

  stop(): void {
    this.timers.unset(this.#timer);
  }

  #look(now: number): void {
    const oldest = this.unacked.first();
    if (oldest === undefined) return;
    this.#marks.push({ time: now, tag: this.lastTag() });
    while ((this.#marks[0]?.tag ?? Infinity) < oldest.deliveryTag) this.#marks.shift();
    const mark = this.#marks[0];
    if (mark !== undefined && now - mark.time >= consumerTimeout) return this.timedOut();
    this.timers.set(this.#timer, now + interval);
  }
}
