import { Timer, type Timers } from '../scheduler/timers.js';
import type { Ready } from './ready-list.js';

/** The most messages at the head that expire in the command that finds them; the rest expires in turns. */
export const expiredPerCommand = 256;

/** Wakes a queue when its next message expires: one timer for the head, never one per message. */
export class HeadTimer {
  readonly #timer: Timer;

  constructor(
    readonly timers: Timers,
    public ready: Ready,
    fire: () => void,
  ) {
    this.#timer = new Timer(fire);
  }

  /** Sets the timer for the head. A timer that fires too early only sets itself again. */
  arm(): void {
    const { deadline } = this.ready;
    if (deadline === 0) return;
    if (!this.#timer.isSet || this.#timer.time > deadline) this.timers.set(this.#timer, deadline);
  }

  /** Watches another list from now on. */
  watch(ready: Ready): Ready {
    this.stop();
    return (this.ready = ready);
  }

  stop(): void {
    this.timers.unset(this.#timer);
  }
}

/** The time to live of an unused queue (rule B12). Any use starts the time anew, a consumer stops it. */
export class Lease {
  #timer: Timer | undefined;
  /** True while the queue is paused, which counts as use (rule X4). */
  #isHeld = false;
  #lastUse = 0;

  constructor(
    readonly timers: Timers,
    /** The time to live in milliseconds; undefined while the queue has none, or has a consumer. */
    readonly timeToLive: () => number | undefined,
    readonly ended: () => void,
  ) {}

  touch(now: number): void {
    const timeToLive = this.timeToLive();
    this.#lastUse = now;
    if (timeToLive === undefined || this.#isHeld) return;
    this.#timer ??= new Timer((now) => this.#check(now));
    if (!this.#timer.isSet) this.timers.set(this.#timer, now + timeToLive);
  }

  stop(): void {
    if (this.#timer !== undefined) this.timers.unset(this.#timer);
  }

  /** The time to live starts anew, perhaps a changed one. */
  restart(now: number): void {
    this.stop();
    this.touch(now);
  }

  /** Stops the time to live (true), or starts the whole time again (false). */
  hold(isHeld: boolean, now: number): void {
    this.#isHeld = isHeld;
    this.restart(now);
  }

  /** Called by the timer. If the queue was used since the timer was set, the timer is set again. */
  #check(now: number): void {
    const timeToLive = this.timeToLive();
    if (timeToLive === undefined) return;
    const due = this.#lastUse + timeToLive;
    if (due > now) this.timers.set(this.#timer as Timer, due);
    else this.ended();
  }
}
