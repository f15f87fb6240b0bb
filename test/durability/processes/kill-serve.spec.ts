import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { killCycles } from '../kill-cycle.js';
import { isBuilt } from '../served.js';
import { amount } from '../../amounts.js';

const cycles = amount('DURABILITY_CYCLES', 4, 500);
const seed = Number(process.env['DURABILITY_SEED'] ?? 1);
if (!isBuilt && process.env['CI'] === undefined) console.warn('SKIPPED: kill -9: the library is not built');

/** The queue of dead letters of the second server is so long that most of its messages are rows. */
const settings = [{}, { kept: 8_000, memory: 20_000 }];

describe.skipIf(!isBuilt && process.env['CI'] === undefined)('kill -9 of dlx-broker serve', () => {
  it('costs nothing that was confirmed', { timeout: 60_000 + cycles * 5_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kill-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    // Each half of them has a directory, a seed and a client of its own: a server that starts, or waits to be killed, leaves
    // the machine to the other one.
    const halves = [Math.ceil(cycles / 2), Math.floor(cycles / 2)].filter((count) => count > 0);
    const lanes = halves.map((count, lane) =>
      killCycles({ seed: seed + lane, cycles: count, directory: join(folder, `data-${lane}`), ...settings[lane] }),
    );
    for (const [lane, { wrong, totals, cycles: done }] of (await Promise.all(lanes)).entries()) {
      console.info(`kill -9: ${done} cycles from seed ${seed + lane} on: ${JSON.stringify(totals)}`);
      expect(wrong.slice(0, 20)).toEqual([]);
      // Nothing was at stake in a server that was killed while it did nothing.
      expect(totals.confirmed).toBeGreaterThan(done * 100);
      expect(totals.settled).toBeGreaterThan(done * 50);
    }
  });
});
