import { loopDelayOf, measureLoop } from '../../platform/index.js';
import type { LoopDelay } from './source.js';

/** Two readers within this time, in milliseconds, see the same delays. */
const shortest = 10_000;

/** Measures how late the event loop is. Delays are forgotten when they were read. */
export class LoopMeter {
  readonly #delays = measureLoop();
  #since: number;

  /** @param now milliseconds of a clock that never goes back */
  constructor(readonly now: () => number) {
    this.#since = now();
  }

  read(): LoopDelay {
    const delays = this.#delays;
    const delay =
      delays.count === 0
        ? { median: 0, p99: 0, max: 0 }
        : { median: late(delays.percentile(50)), p99: late(delays.percentile(99)), max: late(delays.max) };
    if (this.now() - this.#since >= shortest) {
      delays.reset();
      this.#since = this.now();
    }
    return delay;
  }

  stop(): void {
    this.#delays.disable();
  }
}

/** Seconds of delay in a measured interval in nanoseconds. */
const late = (interval: number): number => loopDelayOf(interval) / 1_000;
