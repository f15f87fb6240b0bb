import type { Clock } from '../../libs/dlx-broker/src/engine/broker/index.js';

/** A clock whose timers may be late, as real ones are (rule B8): time passes first, wake-ups come when they are let. */
export class LateClock implements Clock {
  readonly #requests = new Map<() => void, number>();
  #now = Date.UTC(2026, 0, 1);

  now(): number {
    return this.#now;
  }

  wakeAt(time: number | undefined, tick: () => void): void {
    if (time === undefined) this.#requests.delete(tick);
    else this.#requests.set(tick, time);
  }

  /** Time passes, and no timer is called. */
  pass(time: number): void {
    this.#now = time;
  }

  /** Calls the timers that are due, at the present time. */
  wake(): void {
    for (let due = this.#due(); due !== undefined; due = this.#due()) {
      this.#requests.delete(due);
      due();
    }
  }

  #due(): (() => void) | undefined {
    for (const [tick, time] of this.#requests) if (time <= this.#now) return tick;
    return undefined;
  }
}
