import { Random } from '../random.js';
import { median } from '../workload.js';

/** A value at a time, in seconds. */
export interface Point {
  readonly time: number;
  readonly value: number;
}

/** How a figure changed over its points. All three changes are shares of the median: 0.05 is 5 % more at the end. */
export interface Drift {
  readonly median: number;
  readonly change: number;
  /** The interval that has the true change in 99 of 100 cases. */
  readonly from: number;
  readonly to: number;
  readonly verdict: 'flat' | 'grows' | 'falls';
}

const resamples = 400;
const confidence = 0.99;
/** A change below this share of the median is no growth, however certain it is. */
export const tolerance = 0.05;

/**
 * The slope of Theil and Sen (the median of the slopes of all pairs), which single outliers do not move. Its interval comes from a
 * moving-block bootstrap: residuals are drawn in blocks of neighbours, because neighbours in time resemble each other. A figure grows
 * if the whole interval of its change is above the tolerance.
 * @param points at least eight
 */
export function driftOf(points: readonly Point[], seed = 1): Drift {
  if (points.length < 8) throw new RangeError(`a slope needs at least 8 points, there are ${points.length}`);
  const times = points.map(({ time }) => time);
  const values = points.map(({ value }) => value);
  const slope = slopeOf(times, values);
  const level = median(values.map((value, at) => value - slope * (times[at] as number)));
  const fitted = times.map((time) => level + slope * time);
  const residuals = values.map((value, at) => value - (fitted[at] as number));
  const random = new Random(seed);
  const slopes = Array.from({ length: resamples }, () => {
    const drawn = blocks(residuals, random);
    return slopeOf(
      times,
      fitted.map((value, at) => value + (drawn[at] as number)),
    );
  }).toSorted((one, other) => one - other);
  const middle = median(values);
  const length = (times.at(-1) as number) - (times[0] as number);
  const share = (per: number): number => (middle === 0 ? 0 : (per * length) / Math.abs(middle));
  const outside = Math.floor((resamples * (1 - confidence)) / 2);
  const from = share(slopes[outside] as number);
  const to = share(slopes[resamples - 1 - outside] as number);
  const verdict = from > tolerance ? 'grows' : to < -tolerance ? 'falls' : 'flat';
  return { median: middle, change: share(slope), from, to, verdict };
}

function slopeOf(times: readonly number[], values: readonly number[]): number {
  const slopes = new Float64Array((times.length * (times.length - 1)) / 2);
  let count = 0;
  for (let first = 0; first < times.length; first++) {
    for (let second = first + 1; second < times.length; second++) {
      const apart = (times[second] as number) - (times[first] as number);
      if (apart > 0) slopes[count++] = ((values[second] as number) - (values[first] as number)) / apart;
    }
  }
  return median(slopes.subarray(0, count));
}

/** As many values as there are, drawn in blocks of neighbours. */
function blocks(values: readonly number[], random: Random): number[] {
  const size = Math.max(1, Math.round(Math.sqrt(values.length)));
  const drawn: number[] = [];
  while (drawn.length < values.length) {
    const start = random.integer(0, values.length - size);
    drawn.push(...values.slice(start, start + size));
  }
  return drawn.slice(0, values.length);
}
