import type { Clock } from '../engine/broker/index.js';
import { HomeContext } from './home-context.js';
import { maxTimerDelay } from './max-timer-delay.js';

/** When this process began, in milliseconds since 1970. Read once, because Node computes the property at each access. */
const { timeOrigin } = performance;

/**
 * The clock of a real broker: wall-clock time at the start, monotonic from then on. A change of the system clock moves no
 * deadline.
 */
export class SystemClock implements Clock {
  readonly #timers = new Map<() => void, NodeJS.Timeout>();
  /** Timers are set in this context. Otherwise the timer of a waiting message would keep the async context of its publisher alive. */
  readonly #home = new HomeContext();

  now(): number {
    return Math.floor(timeOrigin + performance.now());
  }

  wakeAt(time: number | undefined, tick: () => void): void {
    clearTimeout(this.#timers.get(tick));
    this.#timers.delete(tick);
    if (time === undefined) return;
    const delay = Math.min(Math.max(Math.ceil(time - timeOrigin - performance.now()), 0), maxTimerDelay);
    const fire = (): void => {
      this.#timers.delete(tick);
      tick(); // too early if the delay is above maxTimerDelay: the broker then asks again
    };
    this.#timers.set(tick, this.#home.runInAsyncScope(startTimer, undefined, fire, delay));
  }
}

const startTimer = (fire: () => void, delay: number): NodeJS.Timeout => setTimeout(fire, delay);
