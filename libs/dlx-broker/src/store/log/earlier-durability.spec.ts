import { expect, it } from 'vitest';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { Random } from '../../../../../test/fuzz/random.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { Broker } from '../../engine/broker/index.js';
import { longstr } from '../../engine/message/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { DiskJournal } from './disk-journal.js';
import { hintNumber } from './hints.js';
import type { DiskJournalOptions } from './options.js';

const patterns = { compile: () => ({ matches: () => true }) };
const toDead = new Map([
  ['x-dead-letter-exchange', longstr('')],
  ['x-dead-letter-routing-key', longstr('dead')],
]);

async function open(disk: FakeDisk, options: DiskJournalOptions) {
  disk.isManual = false;
  const usual = { segment: 10_000, memory: 0, diskFree: 0 };
  const journal = await DiskJournal.open(disk, { ...usual, ...options });
  const broker = new Broker({ clock: new ManualClock(), journal, names: new CountedNames(), patterns });
  journal.restore(broker);
  return { ...listen(broker), broker, journal };
}

// A segment with a hint was synced before its hint was written.
it.each([
  ['without a hint', 0],
  ['with a hint', 0.5],
])(
  'a dead letter is durable although an earlier process wrote its body without a sync, %s',
  async (_how, longestHint) => {
    const disk = new FakeDisk();
    const first = await open(disk, { durability: 'os', longestHint });
    first.channel.declareQueue('dead', { durable: true });
    first.channel.declareQueue('q', { durable: true, arguments: toDead });
    for (let number = 0; number < 12; number++) {
      first.channel.publish('', 'q', { deliveryMode: 2 }, Buffer.alloc(1_000, number));
      await first.journal.flush();
    }
    await first.journal.close();
    expect([...disk.files().keys()].some((name) => hintNumber(name) !== undefined)).toBe(longestHint > 0);

    const second = await open(disk, { durability: 'fsync' });
    second.channel.reject(second.channel.get('q')!.deliveryTag, false);
    await new Promise<void>((resolve) => second.journal.commit(() => resolve()));
    for (let seed = 1; seed <= 20; seed++) {
      const { broker } = await open(disk.afterPowerCut(new Random(seed)), { durability: 'fsync' });
      expect(broker.virtualHost('/').queues.get('dead')?.length, `seed ${seed}`).toBe(1);
    }
  },
);

it('segments that an earlier process deleted without a sync do not reappear', async () => {
  const disk = new FakeDisk();
  const first = await open(disk, { durability: 'os' });
  first.channel.declareQueue('q', { durable: true });
  for (let number = 0; number < 48; number++) {
    first.channel.publish('', 'q', { deliveryMode: 2 }, Buffer.alloc(1_000, number));
    await first.journal.flush();
  }
  for (let number = 0; number < 48; number++) first.channel.get('q');
  first.channel.ack(48, true);
  await first.journal.close();
  expect(disk.counts.unlink).toBeGreaterThan(2);

  const second = await open(disk, { durability: 'fsync' });
  second.channel.publish('', 'q', { deliveryMode: 2 }, Buffer.from('stays'));
  await new Promise<void>((resolve) => second.journal.commit(() => resolve()));
  for (let seed = 1; seed <= 20; seed++) {
    const cut = disk.afterPowerCut(new Random(seed));
    const { broker, journal } = await open(cut, { durability: 'fsync' });
    expect(journal.damage, `seed ${seed}`).toEqual({ places: [], queues: [], misplaced: 0 });
    expect(broker.virtualHost('/').queues.get('q')?.length, `seed ${seed}`).toBe(1);
  }
});
