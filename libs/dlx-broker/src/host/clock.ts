import type { Clock } from '../broker/index.js';
import { HomeContext } from './home-context.js';

/** Node's timers take no longer delay, in milliseconds. */
const longestTimer = 2_147_483_647;

/**
 * Real time: wall-clock at the start, monotonic from then on, so a deadline does not come early when the system clock
 * is changed.
 */
export class SystemClock implements Clock {
  readonly #timers = new Map<() => void, NodeJS.Timeout>();
  /** A timer keeps the async context in which it is set: that of a publisher would live as long as its message. */
  readonly #home = new HomeContext();

  now(): number {
    return Math.floor(performance.timeOrigin + performance.now());
  }

  wakeAt(time: number | undefined, tick: () => void): void {
    clearTimeout(this.#timers.get(tick));
    this.#timers.delete(tick);
    if (time === undefined) return;
    const delay = Math.min(Math.max(Math.ceil(time - performance.timeOrigin - performance.now()), 0), longestTimer);
    const ring = (): void => {
      this.#timers.delete(tick);
      tick(); // too early only for delays beyond the longest timer; the broker then asks again
    };
    this.#timers.set(tick, this.#home.runInAsyncScope(startTimer, undefined, ring, delay));
  }
}

const startTimer = (ring: () => void, delay: number): NodeJS.Timeout => setTimeout(ring, delay);
