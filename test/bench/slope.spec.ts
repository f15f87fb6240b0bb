import { describe, expect, it } from 'vitest';
import { Random } from '../../bench/random.js';
import { driftOf, type Point } from '../../bench/soak/slope.js';

/** A sample every forty seconds for half an hour: a level of 100, noise whose neighbours resemble each other, and a slope. */
function samples(perHour: number, noise: number, seed: number): readonly Point[] {
  const random = new Random(seed);
  let near = 0;
  return Array.from({ length: 45 }, (_, index) => {
    near = 0.4 * near + noise * (random.next() - 0.5);
    return { time: index * 40, value: 100 + near + (perHour * index) / 90 };
  });
}

describe('the drift of a figure', () => {
  it('is flat where there is nothing but noise, whatever the seed', () => {
    const verdicts = [1, 2, 3, 4, 5].map((seed) => driftOf(samples(0, 20, seed)).verdict);
    expect(verdicts).toEqual(['flat', 'flat', 'flat', 'flat', 'flat']);
  });

  it('grows where there is a leak, and the interval has its size', () => {
    const { verdict, change, from, to } = driftOf(samples(40, 10, 7));
    expect(verdict).toBe('grows');
    // 40 an hour are 20 in half an hour, of a median of 110.
    expect(from).toBeLessThan(20 / 110);
    expect(to).toBeGreaterThan(20 / 110);
    expect(change).toBeCloseTo(20 / 110, 1);
  });

  it('falls where a figure goes down', () => {
    expect(driftOf(samples(-40, 10, 8)).verdict).toBe('falls');
  });

  it('is flat where the growth is certain, but smaller than the tolerance', () => {
    const { verdict, from } = driftOf(samples(4, 0.5, 9));
    expect(from).toBeGreaterThan(0);
    expect(verdict).toBe('flat');
  });

  it('does not follow single outliers', () => {
    const points = samples(0, 5, 10).map((point, index) => (index > 42 ? { ...point, value: 10_000 } : point));
    expect(driftOf(points).verdict).toBe('flat');
  });

  it('needs a few points', () => {
    expect(() => driftOf(samples(0, 1, 1).slice(0, 7))).toThrow('at least 8 points, there are 7');
  });
});
