import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { killCycles } from '../kill-cycle.js';
import { isBuilt } from '../served.js';

const cycles = Number(process.env['DURABILITY_CYCLES'] ?? 50);
const seed = Number(process.env['DURABILITY_SEED'] ?? 1);
if (!isBuilt && process.env['CI'] === undefined) console.warn('SKIPPED: kill -9: the library is not built');

const folder = mkdtempSync(join(tmpdir(), 'kill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(!isBuilt && process.env['CI'] === undefined)('kill -9 of dlx-broker serve', () => {
  it('costs nothing that was confirmed', { timeout: 60_000 + cycles * 5_000 }, async () => {
    const { wrong, totals, cycles: done } = await killCycles({ seed, cycles, directory: join(folder, 'data') });
    console.info(`kill -9: ${done} cycles from seed ${seed} on: ${JSON.stringify(totals)}`);
    expect(wrong.slice(0, 20)).toEqual([]);
    // Nothing was at stake in a server that was killed while it did nothing.
    expect(totals.confirmed).toBeGreaterThan(cycles * 100);
    expect(totals.settled).toBeGreaterThan(cycles * 50);
  });
});
