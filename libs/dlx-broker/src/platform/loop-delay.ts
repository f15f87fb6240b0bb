import { monitorEventLoopDelay } from 'node:perf_hooks';

/** The milliseconds between two measurements. */
const resolution = 20;

/** Not imported by name, because the types of Node 26 have another name for it than those of Node 20. */
type IntervalHistogram = ReturnType<typeof monitorEventLoopDelay>;

/** Measures the intervals between the calls of a timer from now on, in nanoseconds. See {@link loopDelayOf}. */
export function measureLoop(): IntervalHistogram {
  const intervals = monitorEventLoopDelay({ resolution });
  intervals.enable();
  return intervals;
}

/**
 * How late the event loop was.
 * @param interval nanoseconds, as {@link measureLoop} measures them; the resolution if the event loop is on time
 * @returns milliseconds; 0 if the event loop is on time, or nothing was measured
 */
export const loopDelayOf = (interval: number): number => Math.max(0, interval / 1e6 - resolution);
