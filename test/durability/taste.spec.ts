import { expect, it } from 'vitest';
import { simulate } from '../simulation/simulation.js';
import { powerCuts } from './power-cut.js';
import { withAndWithoutRows } from './with-and-without-rows.js';

/** One seed of each search of the project `crashes`, for `npm test`, which leaves that project out. */
it('a first look for what crashes and power cuts cost finds nothing', async () => {
  expect((await powerCuts({ seed: 2, points: 40 })).violation).toBeUndefined();
  expect((await withAndWithoutRows({ seed: 2, programs: 1, steps: 100 })).wrong).toBeUndefined();
  expect((await simulate(2)).violation).toBeUndefined();
});
