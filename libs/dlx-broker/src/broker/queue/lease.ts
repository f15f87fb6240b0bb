import { Timer, type Timers } from '../scheduler/timers.js';

/** How long a queue may stay unused (rule B12): any use starts the time anew, a consumer stops it. */
export class Lease {
  #timer: Timer | undefined;
  /** A pause of the queue is a use without an end (rule X4). */
  #isHeld = false;
  #lastUse = 0;

  constructor(
    readonly timers: Timers,
    /** The time to live in milliseconds, undefined while there is none or a consumer is there. */
    readonly timeToLive: () => number | undefined,
    readonly ended: () => void,
  ) {}

  touch(now: number): void {
    const timeToLive = this.timeToLive();
    this.#lastUse = now;
    if (timeToLive === undefined || this.#isHeld) return;
    this.#timer ??= new Timer((now) => this.#look(now));
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

  /** While it is held, no time to live runs. When it is let go, the whole time starts. */
  hold(isHeld: boolean, now: number): void {
    this.#isHeld = isHeld;
    this.restart(now);
  }

  /** It may have been used since the timer was set: then it is set again. */
  #look(now: number): void {
    const timeToLive = this.timeToLive();
    if (timeToLive === undefined) return;
    const due = this.#lastUse + timeToLive;
    if (due > now) this.timers.set(this.#timer as Timer, due);
    else this.ended();
  }
}
