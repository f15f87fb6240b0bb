import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { amount } from '../amounts.js';
import { mutantsOfRows } from './mutants.js';
import { withAndWithoutRows } from './with-and-without-rows.js';

const programs = amount('DURABILITY_PROGRAMS', 2, 40);
const seed = Number(process.env['DURABILITY_SEED'] ?? 1);
const steps = 250;
/** The first program that finds a bug. */
const finders: Readonly<Record<string, number>> = { 'messages that are freed twice': 310 };

describe('a store that keeps rows', () => {
  it(
    'answers as one without rows, counts the same, and has the same after a restart',
    { timeout: 60_000 + programs * 5_000 },
    async () => {
      const { counts, wrong } = await withAndWithoutRows({ seed, programs, steps });
      console.info(`with and without rows: from seed ${seed} on, ${JSON.stringify(counts)}`);
      expect(wrong).toBeUndefined();
      for (const [what, count] of Object.entries(counts)) expect(count, what).toBeGreaterThanOrEqual(programs);
    },
  );

  it.each(Object.entries(mutantsOfRows))('is found to have %s', { timeout: 120_000 }, async (name, mutant) => {
    // A journal that fails pauses for 12 s in all before it gives up.
    vi.useFakeTimers({ toFake: ['setTimeout'] }).setTimerTickMode('nextTimerAsync');
    onTestFinished(() => void vi.useRealTimers());
    const { counts, wrong } = await withAndWithoutRows({ seed: finders[name] ?? 300, programs: 40, steps, mutant });
    console.info(`${name}: found by program ${counts.programs}: ${wrong?.split('\n')[0]}`);
    expect(wrong, `${name} was not found by ${counts.programs} programs`).toBeDefined();
  });
});
