import type { Clock } from '../broker/index.js';
import { HomeContext } from './home-context.js';
import { longestTimer } from './longest-timer.js';

/** When this process began, in milliseconds since 1970. Node computes the property at each access, and every command asks for the time. */
const { timeOrigin } = performance;

/**
 * The clock of a real broker: wall-clock time at the start, monotonic from then on. A change of the system clock moves no
 * deadline.
 */
export class SystemClock implements Clock {
  readonly #timers = new Map<() => void, NodeJS.Timeout>();
  /** A timer keeps the async context in which it is set. Without this, a waiting message would keep its publisher's context. */
  readonly #home = new HomeContext();

  now(): number {
    return Math.floor(timeOrigin + performance.now());
  }

  wakeAt(time: number | undefined, tick: () => void): void {
    clearTimeout(this.#timers.get(tick));
    this.#timers.delete(tick);
    if (time === undefined) return;
    const delay = Math.min(Math.max(Math.ceil(time - timeOrigin - performance.now()), 0), longestTimer);
    const fire = (): void => {
      this.#timers.delete(tick);
      tick(); // early only for delays beyond the longest timer: the broker then asks again
    };
    this.#timers.set(tick, this.#home.runInAsyncScope(startTimer, undefined, fire, delay));
  }
}

const startTimer = (fire: () => void, delay: number): NodeJS.Timeout => setTimeout(fire, delay);
