import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type BackendDelivery, EmbeddedBackend } from '../../libs/dlx-broker/src/backends/index.js';
import { Broker, silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type DeathNotice, Notices, park, WaitQueues } from '../../libs/dlx-broker/src/nest/retry/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { Random } from '../fuzz/random.js';
import { FakeDisk } from './fake-disk.js';
import { lent } from './harness.js';

const ids = Array.from({ length: 500 }, (_, index) => `m${String(index).padStart(3, '0')}`);

async function openOn(disk: FakeDisk): Promise<Broker> {
  const clock = new ManualClock();
  const journal = await DiskJournal.open(disk, { segment: 65_536, diskFree: 0, now: () => clock.now() });
  const broker = new Broker({ ...lent(clock), journal });
  journal.restore(broker);
  return broker;
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}

/** A disk with 500 messages that fail, and a queue that is bound to the notices. */
async function prepared(): Promise<FakeDisk> {
  const disk = new FakeDisk();
  disk.isManual = false;
  const broker = await openOn(disk);
  const channel = broker.connect().openChannel(silentOutbox);
  for (const queue of ['work', 'work.parked', 'alerts']) channel.declareQueue(queue, { durable: true });
  channel.declareExchange('dlx.notices', { type: 'topic', durable: true });
  channel.bindQueue('alerts', 'dlx.notices', 'parked.#');
  for (const id of ids) channel.publish('', 'work', { deliveryMode: 2, messageId: id }, Buffer.from(id));
  await turns(100);
  return disk;
}

/** Parks what is left, until the power is cut. @param steps of the disk until then; by default it is never cut */
async function live(disk: FakeDisk, random: Random, steps = Infinity): Promise<FakeDisk> {
  const broker = await openOn(disk);
  const backend = new EmbeddedBackend(broker);
  const lost: Error[] = [];
  const waitQueues = new WaitQueues(backend, 'classic', '', new Notices(backend, 'dlx.notices', (e) => lost.push(e)));
  waitQueues.declared([], ['work.parked']);
  disk.isManual = steps !== Infinity;
  const taken: BackendDelivery[] = [];
  backend.consume('work', { prefetch: 20 }, (delivery) => void taken.push(delivery));
  for (let step = 0; step < steps && (steps !== Infinity || step < 60); step++) {
    for (const delivery of taken.splice(0)) park(delivery, 'work.parked', waitQueues, { queue: 'work', attempt: 1 });
    await turns(3);
    if (disk.isManual) disk.advance();
  }
  expect(lost).toEqual([]);
  return steps === Infinity ? disk : disk.afterPowerCut(random);
}

function takeAll(broker: Broker, queue: string) {
  const channel = broker.connect().openChannel(silentOutbox);
  const found = [];
  for (let got = channel.get(queue); got !== undefined; got = channel.get(queue)) found.push(got.message);
  return found;
}

it.each([1, 2, 3])(
  'there is exactly one notice for each of 500 parked messages, over power cuts (seed %i)',
  async (seed) => {
    const random = new Random(seed);
    let disk = await prepared();
    const left: number[] = [];
    for (let cut = 0; cut < 12; cut++) {
      disk = await live(disk, random, 2 + Math.floor(random.next() * 9));
      disk.isManual = false;
      const broker = await openOn(disk);
      left.push(broker.virtualHost('/').queues.get('work')!.length);
      const [parked, notices] = ['work.parked', 'alerts'].map(
        (queue) => broker.virtualHost('/').queues.get(queue)!.length,
      );
      expect(notices).toBe(parked);
    }
    expect(new Set(left).size).toBeGreaterThan(1);
    disk.isManual = false;
    const broker = await openOn(await live(disk, random));
    expect(takeAll(broker, 'work')).toEqual([]);
    expect(
      takeAll(broker, 'work.parked')
        .map(({ own }) => own.messageId)
        .toSorted(),
    ).toEqual(ids);
    const notices = takeAll(broker, 'alerts').map(({ body }) => JSON.parse(String(body)) as DeathNotice);
    expect(notices.map(({ messageId }) => messageId!).toSorted()).toEqual(ids);
  },
);
