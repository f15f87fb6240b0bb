import { describe, expect, it, vi } from 'vitest';
import { drivers } from './drivers.js';
import { engineDriver } from './engine-driver.js';
import { playRandomProgram } from './random-program.js';
import { amount } from '../amounts.js';

vi.setConfig({ maxConcurrency: 16, testTimeout: 60_000 });

const first = Number(process.env['RANDOM_SEED'] ?? 1);
const count = amount('RANDOM_PROGRAMS', 8, 200);
const steps = Number(process.env['RANDOM_STEPS'] ?? 25);

const others = drivers.filter((driver) => driver.name !== 'engine');
const rows = await Promise.all(
  others.map(async (driver) => ({
    driver,
    name: driver.name,
    profile: driver.profile,
    missing: await driver.unavailable(),
  })),
);

describe.concurrent.each(rows)(
  'a random program tells the same story on the engine of $profile and on $name',
  (row) => {
    for (let seed = first; seed < first + count; seed += 1)
      (row.missing === undefined ? it.concurrent : it.skip)(`seed ${seed}`, { retry: 3 }, async () => {
        const [expected, observed] = await Promise.all(
          [row.driver, engineDriver(row.profile)].map(async (driver) => {
            const session = await driver.open();
            try {
              return await playRandomProgram(session, seed, steps);
            } finally {
              await session.close();
            }
          }),
        );
        expect(observed).toEqual(expected);
      });
  },
);
