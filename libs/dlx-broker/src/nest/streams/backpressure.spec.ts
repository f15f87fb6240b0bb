import { concatMap, take } from 'rxjs';
import { setImmediate as soon } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { amount } from '../../../../../test/amounts.js';
import { deadQueue, lettersHarness as arrange } from '../../../../../test/harnesses/letters-harness.js';

const many = amount('SLOW_LETTERS', 200_000, 1_000_000);
const megabyte = 2 ** 20;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of what is alive. */
function alive(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

it(
  `a slow subscriber to ${many} dead letters holds a prefetch of them, and memory stays flat`,
  { timeout: 180_000 },
  async () => {
    const { letters, backend, queue, publish, reject } = await arrange();
    for (let index = 0; index < many; index++) publish('x');
    reject('orders');
    expect(queue(deadQueue).ready).toBe(many);
    const before = alive();
    let [most, highest, seen] = [0, 0, 0];
    await new Promise<void>((resolve, fail) => {
      letters
        .from(deadQueue, { prefetch: 20 })
        .pipe(
          concatMap(async (letter) => {
            if (++seen % 100 === 0) {
              await soon(); // slower than the broker by far
              most = Math.max(most, backend.unsettled);
              if (seen % (many / 10) === 0) highest = Math.max(highest, alive());
            }
            letter.ack();
          }),
          take(many),
        )
        .subscribe({ complete: resolve, error: fail });
    });
    expect(most).toBeLessThanOrEqual(20);
    // A buffer of a million letters would take ten times this, and one of 200,000 twice this.
    expect(highest - before).toBeLessThan(20 * megabyte);
    expect(queue(deadQueue)).toMatchObject({ ready: 0, unacknowledged: 0 });
  },
);
