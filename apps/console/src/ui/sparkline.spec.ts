import { expect, it } from 'vitest';
import { pointsOf } from './sparkline';

it('begins at 0, ends at the right, and leaves out what is not known', () => {
  expect(pointsOf([null, 0, 5, 10])).toEqual([
    { x: 24, y: 18 },
    { x: 48, y: 10 },
    { x: 72, y: 2 },
  ]);
});

it('is nothing for a queue that was empty all the time', () => {
  expect(pointsOf([0, 0, null])).toBeUndefined();
  expect(pointsOf([])).toBeUndefined();
});
