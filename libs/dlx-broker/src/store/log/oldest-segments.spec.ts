import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { Random } from '../../../../../test/fuzz/random.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { Broker } from '../../engine/broker/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { damageLines } from '../open-data.js';
import { Batch } from './batch.js';
import { DiskJournal } from './disk-journal.js';
import type { DiskJournalOptions } from './options.js';
import { scan } from './scan.js';
import { readHeader, recordHead, recordTypes, segmentName, segmentNumber, typeAt } from './segment-header.js';

const patterns = { compile: () => ({ matches: () => true }) };

async function open(disk: FakeDisk, options: DiskJournalOptions = {}) {
  disk.isManual = false;
  const clock = new ManualClock();
  const usual = { segment: 10_000, slack: 0, factor: 1.2, memory: 0, diskFree: 0, now: () => clock.now() };
  const journal = await DiskJournal.open(disk, { ...usual, ...options });
  const broker = new Broker({ clock, journal, names: new CountedNames(), patterns });
  journal.restore(broker);
  const { channel } = listen(broker);
  let next = 0;
  /** Publishes messages in a batch each. */
  const publish = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left--) {
      const properties = { deliveryMode: 2, messageId: `m${next++}` };
      channel.publish('', 'q', properties, Buffer.alloc(1_000));
      await journal.flush();
    }
  };
  /** Settles messages in a batch each. */
  const settle = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left--) {
      channel.ack(channel.get('q')!.deliveryTag);
      await journal.flush();
    }
  };
  return { broker, journal, disk, channel, publish, settle };
}

/** A log without compaction: its first segment has live messages. */
async function filled(options: DiskJournalOptions = { slack: 1e9 }): Promise<FakeDisk> {
  const { channel, publish, journal, disk } = await open(new FakeDisk(), options);
  channel.declareQueue('q', { durable: true });
  await publish(40);
  await journal.close();
  return disk.copy();
}

/** A log whose first segments were freed. */
async function compacted(): Promise<FakeDisk> {
  const { channel, publish, settle, journal, disk } = await open(new FakeDisk());
  channel.declareQueue('q', { durable: true });
  await publish(40);
  await settle(30);
  await publish(20);
  await journal.close();
  return disk.copy();
}

const segmentsOn = (disk: FakeDisk): number[] =>
  [...disk.files().keys()].map(segmentNumber).filter((number) => number !== undefined);

/** A copy of a disk without some files. */
function without(disk: FakeDisk, ...names: readonly string[]): FakeDisk {
  const copy = new FakeDisk();
  for (const [name, bytes] of disk.files()) if (!names.includes(name)) copy.put(name, bytes);
  return copy;
}

const hints = (disk: FakeDisk): string[] => [...disk.files().keys()].filter((name) => name.endsWith('.hint'));

const damageOf = async (disk: FakeDisk, options: DiskJournalOptions = {}) =>
  (await open(disk.copy(), options)).journal.damage;

describe('a log without its oldest segments', () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each([['use'], ['check']] as const)('is damaged (hints: %s)', async (hints) => {
    const disk = await filled();
    const copy = without(disk, segmentName(1), segmentName(2));
    const damage = await damageOf(copy, { hints });
    expect(damage.places).toEqual([
      { file: segmentName(1), from: 0, to: 0, isMissing: true },
      { file: segmentName(2), from: 0, to: 0, isMissing: true },
    ]);
    expect(damageLines(damage)[0]).toMatch(/^0000000001\.log is missing.*restore the directory from a backup/);
  });

  it('is damaged as well when it was compacted before, and whole when compaction deleted them', async () => {
    const disk = await compacted();
    const first = Math.min(...segmentsOn(disk));
    expect(first).toBeGreaterThan(1);
    for (const hints of ['use', 'check'] as const) {
      expect(await damageOf(disk, { hints })).toEqual({ places: [], queues: [], misplaced: 0 });
      const { places } = await damageOf(without(disk, segmentName(first)), { hints });
      expect(places).toMatchObject([{ file: segmentName(first), isMissing: true }]);
    }
  });

  it('is whole when a version that does not name the oldest segment freed them', async () => {
    const disk = await filled();
    const old = vi.spyOn(Batch.prototype, 'oldest').mockImplementation(() => undefined);
    const before = await open(disk);
    await before.settle(30);
    await before.journal.close();
    old.mockRestore();
    expect(Math.min(...segmentsOn(disk))).toBeGreaterThan(1);
    expect((await damageOf(disk)).places).toEqual([]);
  });

  it('is not complained about when the record that names the oldest one is damaged', async () => {
    const log = await compacted();
    const disk = without(log, ...hints(log));
    const last = Math.max(...segmentsOn(disk));
    const first = Math.min(...segmentsOn(disk));
    const name = segmentName(last);
    const bytes = disk.files().get(name)!;
    const { records } = scan(bytes, readHeader(bytes, name)!.salt);
    const named = [...records].filter(
      (at) => bytes[at + typeAt] === recordTypes.settled && bytes[at + recordHead] === 0,
    );
    expect(named.length).toBeGreaterThan(0);
    // Without the end: the damage must not be taken for an unconfirmed batch.
    for (const at of named) disk.overwrite(name, at + recordHead, Buffer.from([1]));
    const { places } = await damageOf(without(disk, segmentName(first)));
    expect(places.filter(({ isMissing }) => isMissing)).toEqual([]);
    expect(places).not.toEqual([]);
  });

  it('is found in every copy that was made file by file while messages moved, unless the copy has them', async () => {
    const outcomes = { whole: 0, damaged: 0 };
    for (let seed = 1; seed <= 60; seed++) {
      const random = new Random(seed);
      const scene = await open(new FakeDisk());
      scene.channel.declareQueue('q', { durable: true });
      await scene.publish(20);
      const waiting = (broker: Broker): string[] => {
        const found: string[] = [];
        broker
          .virtualHost('/')
          .queues.get('q')
          ?.peek(({ message }) => void found.push(message.properties.messageId!));
        return found;
      };
      const copy = new FakeDisk();
      const before = waiting(scene.broker);
      let settled = 0;
      for (const name of random.chance(0.5) ? await scene.disk.list() : [...(await scene.disk.list())].reverse()) {
        const bytes = scene.disk.files().get(name);
        if (bytes !== undefined) copy.put(name, bytes);
        if (!random.chance(0.6)) continue;
        await scene.publish(random.integer(0, 8));
        const count = Math.min(random.integer(0, 4), before.length - 3 - settled);
        await scene.settle(count);
        settled += count;
      }
      const found = await open(copy);
      const isWhole = found.journal.damage.places.length + found.journal.damage.queues.length === 0;
      outcomes[isWhole ? 'whole' : 'damaged']++;
      const kept = waiting(found.broker);
      if (isWhole) for (const id of before.slice(settled)) expect(kept, `seed ${seed}`).toContain(id);
    }
    expect(outcomes.whole).toBeGreaterThan(0);
    expect(outcomes.damaged).toBeGreaterThan(0);
  });
});
