import { describe, expect, it } from 'vitest';
import { closedStore, look, rot } from './bit-rot.js';
import { amount } from '../amounts.js';

const trials = amount('DURABILITY_TRIALS', 50, 2_000);
const seed = Number(process.env['DURABILITY_SEED'] ?? 1);

describe('bytes that go bad in a closed store', () => {
  it(
    'are never delivered as something else; they are reported, and the rest is served',
    { timeout: 60_000 + trials * 200 },
    async () => {
      const totals = { opened: 0, refused: 0, damaged: 0, found: 0, missing: 0, told: 0, revived: 0, unflagged: 0 };
      for (let round = 0; round * 50 < trials; round++) {
        const closed = await closedStore(seed + round, round % 2 === 0 ? 16_384 : 1_048_576);
        const whole = await look(closed.disk.copy(), closed);
        expect(whole).toMatchObject({
          wrong: [],
          revived: 0,
          unflagged: 0,
          damage: { places: [], queues: [], misplaced: 0 },
        });
        expect(whole.missing).toEqual(new Map());
        for (let trial = 0; trial < 50; trial++) {
          const label = `seed ${seed + round}, trial ${trial}`;
          const rotten = await rot(closed, seed + round * 50 + trial);
          if (rotten.refused !== undefined) {
            totals.refused++;
            continue;
          }
          totals.opened++;
          const { damage, missing } = rotten;
          expect(rotten.wrong, label).toEqual([]);
          const isTold = damage.places.length + damage.queues.length + damage.misplaced > 0;
          const lost = [...missing.values()].reduce((sum, count) => sum + count, 0);
          if (lost + rotten.revived > 0) expect(isTold, `${label}: ${lost} lost, ${rotten.revived} revived`).toBe(true);
          if (rotten.unflagged > 0) expect(isTold, `${label}: ${rotten.unflagged} not flagged`).toBe(true);
          if (isTold) totals.damaged++;
          totals.found += rotten.found;
          totals.missing += lost;
          totals.told += damage.queues.reduce((sum, queue) => sum + queue.lost, damage.misplaced);
          totals.revived += rotten.revived;
          totals.unflagged += rotten.unflagged;
        }
      }
      console.info(`bit rot: ${trials} trials from seed ${seed} on: ${JSON.stringify(totals)}`);
      // The place of a message whose entry is damaged is unknown; nearly always it is reported, by queue or as misplaced.
      expect(totals.told).toBeGreaterThan(totals.missing * 0.8);
      expect(totals.opened).toBeGreaterThan(trials * 0.9);
      expect(totals.damaged).toBeGreaterThan(trials * 0.5);
      // Three places cost a few messages, not a segment of them.
      expect(totals.missing).toBeLessThan((totals.found + totals.missing) * 0.1);
    },
  );
});
