import { describe, expect, it } from 'vitest';
import { mutants } from './mutants.js';
import { powerCuts } from './power-cut.js';
import { amount } from '../amounts.js';

const points = amount('DURABILITY_POINTS', 300, 100_000);
const seed = Number(process.env['DURABILITY_SEED'] ?? 1);
/** A bug that is not found in so many power cuts is not found at all. */
const mostPoints = 20_000;
/** The seeds of bugs that programs from {@link seed} on find late. */
const seeds: Readonly<Record<string, number>> = { 'no fsync of the directory at the start': 102 };

describe('a power cut', () => {
  it(
    'costs nothing that was confirmed, and leaves no half of anything',
    { timeout: 60_000 + points * 50 },
    async () => {
      const { violation, counts, points: done } = await powerCuts({ seed, points });
      console.info(`power cuts: ${done} from seed ${seed} on; the disk did ${JSON.stringify(counts)}`);
      expect(
        violation,
        violation && `seed ${violation.seed}, cut ${violation.point}: ${violation.what}`,
      ).toBeUndefined();
      // What the disk was never asked to do was not tested.
      for (const [what, count] of Object.entries(counts)) expect(count, what).toBeGreaterThan(points / 1_000);
    },
  );

  it('leaves pauses of queues wholly or not at all (rule X5)', { timeout: 60_000 + points * 50 }, async () => {
    // The first program makes queues so deep that it takes ten times as long.
    const { violation } = await powerCuts({ seed: seed + 1, points: points / 3, weights: { pause: 12 } });
    expect(violation, violation && `seed ${violation.seed}, cut ${violation.point}: ${violation.what}`).toBeUndefined();
  });

  it.each(Object.entries(mutants))('finds a store with %s', { timeout: 120_000 }, async (name, mutant) => {
    const from = seeds[name] ?? seed;
    const { violation, points: done } = await powerCuts({ seed: from, points: mostPoints, mutant });
    console.info(`${name}: found in cut ${done}: ${violation?.what.split('\n')[0]}`);
    expect(violation, `${name} was not found in ${done} power cuts from seed ${from} on`).toBeDefined();
  });
});
