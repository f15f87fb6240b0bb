import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** The milliseconds between two measurements. */
const resolution = 20;

/** Measures the intervals between the turns of a timer from now on, in nanoseconds. See {@link delayIn}. */
export function measuredLoop(): IntervalHistogram {
  const intervals = monitorEventLoopDelay({ resolution });
  intervals.enable();
  return intervals;
}

/**
 * How late the event loop was.
 * @param interval nanoseconds, as {@link measuredLoop} measures them: an event loop that is on time has the resolution there
 * @returns milliseconds; 0 on time, and without a measurement
 */
export const delayIn = (interval: number): number => Math.max(0, interval / 1e6 - resolution);
