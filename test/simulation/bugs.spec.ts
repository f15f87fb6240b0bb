import { describe, expect, it } from 'vitest';
import { bugs } from './bugs.js';
import { simulate } from './simulation.js';

/** A bug that is not found in so many runs is not found at all. */
const patience = 200;

describe('the simulation', () => {
  it.each(Object.entries(bugs))('finds %s', { timeout: 120_000 }, async (name, bug) => {
    let seed = 0;
    let found: string | undefined;
    while (found === undefined && seed < patience) found = (await simulate(++seed, { bug })).violation?.message;
    console.info(`${name}: found in run ${seed}: ${found}`);
    expect(found, `${name} was not found in ${patience} runs`).toBeDefined();
  });
});
