import { describe, expect, it } from 'vitest';
import { nearestStep, stepUp } from './steps.js';

describe('the step that is not below a delay', () => {
  it.each([
    [1, 1],
    [2, 2],
    [7, 8],
    [9, 10],
    [10, 10],
    [11, 13],
    [100, 100],
    [101, 125],
    [801, 1_000],
    [1_000, 1_000],
    [5_001, 6_300],
    [600_000, 630_000],
    [4_294_967_295, 5_000_000_000],
  ])('of %i is %i', (delay, step) => expect(stepUp(delay)).toBe(step));

  it('is never early, at most 28 % late from 100 ms on, and a step that is nearest to itself', () => {
    for (let delay = 1; delay < 200_000; delay += delay < 2_000 ? 1 : 97) {
      const step = stepUp(delay);
      expect(step).toBeGreaterThanOrEqual(delay);
      if (delay >= 100) expect(step).toBeLessThanOrEqual(delay * 1.28);
      expect(nearestStep(step)).toBe(step);
    }
  });
});
