import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { LoopDelay } from './source.js';

/** The milliseconds between two measurements. Node.js counts them as delay. */
const resolution = 20;

/** Two readers within this time, in milliseconds, see the same delays. */
const shortest = 10_000;

/** Measures how late the event loop is. Delays are forgotten when they were read. */
export class LoopMeter {
  readonly #delays: IntervalHistogram = monitorEventLoopDelay({ resolution });
  #since: number;

  /** @param now milliseconds of a clock that never goes back */
  constructor(readonly now: () => number) {
    this.#delays.enable();
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
const late = (interval: number): number => Math.max(0, interval / 1e9 - resolution / 1e3);
