import { describe, expect, it } from 'vitest';
import { addCounts, shownViolation } from './report.js';
import { type Result, simulate } from './simulation.js';
import { amount } from '../amounts.js';

const first = Number(process.env['SIMULATION_SEED'] ?? 1);
const seeds = amount('SIMULATION_SEEDS', 60, 100_000);

describe('a simulated application on a simulated server', () => {
  it(`keeps every promise in ${seeds} runs from seed ${first} on`, { timeout: 60_000 + seeds * 500 }, async () => {
    const sum: Record<string, number> = {};
    const failed: Result[] = [];
    for (let seed = first; seed < first + seeds && failed.length < 5; seed++) {
      // A single run shows what it did.
      const result = await simulate(seed, { keepsTrace: seeds === 1 });
      addCounts(sum, result);
      if (seeds === 1) console.info([...result.trace, `hash ${result.hash}`].join('\n'));
      if (result.violation !== undefined) failed.push(result);
    }
    console.info(`simulation: ${JSON.stringify(sum)}`);
    expect(failed, failed.map(shownViolation).join('\n')).toEqual([]);
  });

  it('does the same again for the same seed, in any order of runs and with a trace', async () => {
    const hashes = async (order: readonly number[], keepsTrace: boolean): Promise<ReadonlyMap<number, string>> => {
      const found = new Map<number, string>();
      for (const seed of order) found.set(seed, (await simulate(seed, { keepsTrace })).hash);
      return found;
    };
    const some = Array.from({ length: 8 }, (_, index) => first + index);
    const one = await hashes(some, false);
    expect(await hashes(some.toReversed(), true)).toEqual(one);
    expect(new Set(one.values()).size).toBe(some.length);
  });
});
