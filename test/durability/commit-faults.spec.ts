import { setImmediate, setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type BackendDelivery, EmbeddedBackend, type Publication } from '../../libs/dlx-broker/src/backends/index.js';
import { Broker, silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { FakeDisk } from './fake-disk.js';
import { systemError } from './fake-file.js';
import { lent } from './harness.js';

async function openOn(disk: FakeDisk) {
  disk.isManual = false;
  const clock = new ManualClock();
  const options = { segment: 16_384, diskFree: 0, checkInterval: 1, now: () => clock.now() };
  const journal = await DiskJournal.open(disk, options);
  const broker = new Broker({ ...lent(clock), journal });
  journal.restore(broker);
  return { broker, journal };
}

const to = (routingKey: string, deliveryMode = 2): Publication => ({
  exchange: '',
  routingKey,
  properties: { deliveryMode },
  body: Buffer.from('x'),
  mandatory: true,
});

/** A broker with a delivery in hand. */
async function arrange() {
  const disk = new FakeDisk();
  const { broker, journal } = await openOn(disk);
  const channel = broker.connect().openChannel(silentOutbox);
  for (const queue of ['work', 'next']) channel.declareQueue(queue, { durable: true });
  channel.declareQueue('passing', { durable: false });
  channel.publish('', 'work', { deliveryMode: 2 }, Buffer.from('cause'));
  await journal.flush();
  const backend = new EmbeddedBackend(broker);
  const delivery = await new Promise<BackendDelivery>((resolve) => {
    backend.consume('work', { prefetch: 1 }, resolve);
  });
  const committed = (...list: Publication[]): Promise<Error | undefined> =>
    new Promise((resolve) => delivery.commit(list, resolve));
  const lengths = (of: Broker) => ['next', 'passing'].map((name) => of.virtualHost('/').queues.get(name)?.length);
  return { disk, broker, journal, delivery, committed, lengths };
}

it('rule K15: a commit is refused as a whole while the disk is full, also for one message of it', async () => {
  const { disk, broker, journal, delivery, committed, lengths } = await arrange();
  disk.writeError = systemError('ENOSPC', 'injected');
  broker.connect().openChannel(silentOutbox).publish('', 'next', { deliveryMode: 2 }, Buffer.from('fills'));
  for (let turn = 0; turn < 200 && !journal.isFull; turn++) await setTimeout(1);
  expect(journal.isFull).toBe(true);
  const before = lengths(broker);
  expect(await committed(to('passing', 1), to('next'))).toMatchObject({ name: 'RefusedError' });
  expect([lengths(broker), delivery.settled]).toEqual([before, false]);
  disk.writeError = undefined;
  for (let turn = 0; turn < 1_000 && journal.isFull; turn++) await setTimeout(1);
  expect(await committed(to('passing', 1), to('next'))).toBeUndefined();
  expect([lengths(broker), delivery.settled]).toEqual([[before[0]! + 1, before[1]! + 1], true]);
});

it('rule K15: a disk that fails for good during a commit has all of it or nothing', async () => {
  const { disk, delivery, committed } = await arrange();
  const copies: FakeDisk[] = [disk.copy()];
  disk.syncError = systemError('EIO', 'injected');
  expect(await committed(to('next'), to('next'))).toMatchObject({ name: 'RefusedError' });
  expect(delivery.settled).toBe(true); // in memory both are done
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  copies.push(disk.copy());
  for (const copy of copies) {
    const { broker } = await openOn(copy);
    const { queues } = broker.virtualHost('/');
    expect([queues.get('work')?.length, queues.get('next')?.length]).toSatisfy((found: unknown) =>
      ['[1,0]', '[0,2]'].includes(JSON.stringify(found)),
    );
  }
});
