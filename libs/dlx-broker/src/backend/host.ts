import { randomBytes } from 'node:crypto';
import type { Clock, Names, Pace } from '../broker/index.js';

/** Node's timers take no longer delay, in milliseconds. */
const longestTimer = 2_147_483_647;

/** Real time: wall-clock at the start, monotonic from then on, so that no deadline comes early when the clock is set. */
export class SystemClock implements Clock {
  readonly #timers = new Map<() => void, NodeJS.Timeout>();

  now(): number {
    return Math.floor(performance.timeOrigin + performance.now());
  }

  wakeAt(time: number | undefined, tick: () => void): void {
    clearTimeout(this.#timers.get(tick));
    this.#timers.delete(tick);
    if (time === undefined) return;
    const delay = Math.min(Math.max(Math.ceil(time - performance.timeOrigin - performance.now()), 0), longestTimer);
    const timer = setTimeout(() => {
      this.#timers.delete(tick);
      tick(); // too early only for delays beyond the longest timer; the broker then asks again
    }, delay);
    this.#timers.set(tick, timer);
  }
}

/** Names nobody can guess. */
export const randomNames: Names = { token: () => randomBytes(16).toString('base64url') };

/** Lets the event loop turn after five hundred steps: some are as dear as five microseconds (bench/event-loop.ts). */
export const turnPace: Pace = { budget: 500, later: (resume) => setImmediate(resume) };
