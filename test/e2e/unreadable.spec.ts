import { Injectable } from '@nestjs/common';
import { Consume, DlxClient, Prefetch, sharedBroker } from 'dlx-broker';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { policyPatterns, randomNames, SystemClock, turnPace } from '../../libs/dlx-broker/src/platform/index.js';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { FakeDisk } from '../durability/fake-disk.js';
import { systemError } from '../durability/fake-file.js';
import { contextApp } from './apps.js';

async function opened(disk: FakeDisk) {
  disk.isManual = false;
  const clock = new SystemClock();
  const journal = await DiskJournal.open(disk, { memory: 0, diskFree: 0 });
  const broker = new Broker({ clock, names: randomNames, patterns: policyPatterns, pace: turnPace, journal });
  journal.restore(broker);
  return { broker, journal };
}

/** So large that one read of the log brings no other body. */
const text = 'x'.repeat(300_000);

describe('a handler whose messages cannot be read from the disk', () => {
  it('does not hold up the end of its application, and loses none of them', async () => {
    const disk = new FakeDisk();
    const { broker, journal } = await opened(disk);
    const begun: number[] = [];
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));

    @Injectable()
    class Jobs {
      @Consume({ queue: 'jobs', routingKey: 'job' })
      @Prefetch(1)
      async run(job: { readonly id: number }): Promise<void> {
        begun.push(job.id);
        await gate;
      }
    }
    const app = await contextApp({ providers: [Jobs], options: { broker: sharedBroker(broker), drainTimeout: '1h' } });
    for (let id = 1; id <= 6; id++)
      await firstValueFrom(app.get(DlxClient).emit('job', { id, text }), { defaultValue: 0 });
    await journal.flush();
    disk.readError = systemError('EIO', 'i/o error, read');
    release();
    const queue = broker.virtualHost('/').queues.get('jobs')!;
    await expect.poll(() => queue.stalled?.failures ?? 0, { timeout: 8_000 }).toBeGreaterThan(1);
    await app.close(); // it does not wait for messages that cannot be read: that would take an hour
    expect(queue.length + begun.length).toBe(6);
    await journal.close();
    broker.close();
    disk.readError = undefined;
    const again = await opened(disk.copy());
    const kept = again.broker.virtualHost('/').queues.get('jobs')!;
    expect(kept.length).toBe(6 - begun.length);
    const ids: number[] = [];
    kept.peek(({ message }) => {
      const job = JSON.parse(Buffer.from(message.body).toString()) as { readonly id: number; readonly text: string };
      expect(job.text).toBe(text);
      ids.push(job.id);
    });
    expect([...begun, ...ids]).toEqual([1, 2, 3, 4, 5, 6]);
    again.broker.close();
    await again.journal.close();
  });
});
