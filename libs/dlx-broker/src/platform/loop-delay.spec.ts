import { expect, it } from 'vitest';
import { loopDelayOf } from './clock.js';

it.each([
  ['none without a measurement', 0, 0],
  ['none on time', 20_000_000, 0],
  ['none a little early', 19_100_000, 0],
  ['what is above the resolution', 270_000_000, 250],
])('the delay of the event loop is %s', (_, interval, delay) => {
  expect(loopDelayOf(interval)).toBe(delay);
});
