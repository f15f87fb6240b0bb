import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, it } from 'vitest';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { NodeDisk } from '../../libs/dlx-broker/src/store/log/node-disk.js';
import { listen } from '../harnesses/listener.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { lent } from './harness.js';

const messages = Number(process.env['DURABILITY_SOAK'] ?? 100_000);
/** A long run has the segments it will have; a short one smaller ones, or it would never fill any. */
const segment = messages > 1_000_000 ? 16 * 1024 * 1024 : 1024 * 1024;
/** Bytes beside what lives: 64 MB at the usual size of a segment. */
const allowance = 4 * segment;

const directory = mkdtempSync(join(tmpdir(), 'soak-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const bytesOnDisk = (): number =>
  readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;
function heap(): number {
  gc();
  gc();
  return process.memoryUsage().heapUsed;
}

describe('a store through which much goes, and in which a little stays for ever', () => {
  it(
    'takes four times what lives and a few segments, and no more memory',
    { timeout: 60_000 + messages / 2 },
    async () => {
      const clock = new ManualClock();
      const journal = await DiskJournal.open(new NodeDisk(directory), {
        segment,
        slack: allowance,
        memory: 1_000_000,
        durability: 'os',
      });
      const broker = new Broker({ ...lent(clock), journal });
      journal.restore(broker);
      const { channel, deliveries } = listen(broker);
      channel.declareQueue('parked', { durable: true });
      const toParked = new Map([
        ['x-dead-letter-exchange', longstr('')],
        ['x-dead-letter-routing-key', longstr('parked')],
      ]);
      channel.declareQueue('work', { durable: true, arguments: toParked });
      channel.qos(200);
      channel.consume('work', { consumerTag: 'worker' });
      const body = Buffer.alloc(1_000, 'x');
      const late: number[] = [];
      let worst = 0;
      let half = 0;
      for (let sent = 1; sent <= messages; sent++) {
        channel.publish('', 'work', { deliveryMode: 2 }, body);
        const { deliveryTag } = deliveries.pop() as (typeof deliveries)[number];
        if (sent % 100 === 0) channel.reject(deliveryTag, false);
        // What comes and goes between two batches is never written: some of it lives longer.
        else if (sent % 3 === 0) late.push(deliveryTag);
        else channel.ack(deliveryTag);
        if (late.length > 150) channel.ack(late.shift() as number);
        if (sent % 50 === 0) await setImmediate();
        if (sent % 1_000 !== 0) continue;
        await journal.flush();
        const { liveBytes } = journal.stats;
        worst = Math.max(worst, bytesOnDisk() - 4 * liveBytes);
        if (sent === messages / 2) half = heap();
      }
      const parked = broker.virtualHost('/').queues.get('parked')?.length ?? 0;
      const end = heap();
      const { bytes, liveBytes, segments } = journal.stats;
      await journal.close();
      const mega = (value: number): string => `${(value / 1e6).toFixed(1)} MB`;
      console.info(
        `soak: ${messages} messages, ${parked} parked: ${mega(bytesOnDisk())} on disk (${segments} segments, ${mega(bytes)}) for ` +
          `${mega(liveBytes)} that live, at worst ${mega(worst)} above four times as much; heap ${mega(half)}, then ${mega(end)}`,
      );
      expect(parked).toBeGreaterThan(messages / 150);
      expect(worst).toBeLessThan(allowance);
      // A parked message is known by a few hundred bytes; its body is not in memory.
      expect(end - (parked / 2) * 600).toBeLessThan(half * 1.1);
    },
  );
});
