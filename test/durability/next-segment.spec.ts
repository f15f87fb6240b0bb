import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { NextSegment } from '../../libs/dlx-broker/src/store/log/next-segment.js';
import type { Durability } from '../../libs/dlx-broker/src/store/log/options.js';
import {
  formatVersion,
  readHeader,
  segmentHead,
  writeHeader,
} from '../../libs/dlx-broker/src/store/log/segment-header.js';
import { Space } from '../../libs/dlx-broker/src/store/log/space.js';
import { Random } from '../fuzz/random.js';
import { listen } from '../harnesses/listener.js';
import { FakeDisk, type FakeDiskOptions } from './fake-disk.js';
import { systemError } from './fake-file.js';
import { lent } from './harness.js';

const length = 1_048_576;
const stretch = 262_144;
const draft = '0000000002.log.new';
const name = '0000000002.log';

function arrange(options: FakeDiskOptions = {}, wanted = 0) {
  const disk = new FakeDisk(options);
  const space = new Space(
    disk,
    wanted,
    60_000,
    () => undefined,
    () => undefined,
  );
  const next = new NextSegment(disk, space, length, () => false);
  /** Does what was asked of the disk, one after the other, until something holds. */
  const advance = async (isEnough: () => boolean): Promise<void> => {
    for (let step = 0; step < 100; step++) {
      for (let turn = 0; turn < 30; turn++) await Promise.resolve();
      if (isEnough()) return;
      disk.advance();
    }
  };
  const sizes = () => [...disk.files()].map(([file, bytes]) => [file, bytes.length]);
  return { disk, space, next, advance, sizes };
}

/** Asks for the segment while the disk goes on. */
async function taken({ next, advance }: ReturnType<typeof arrange>) {
  let isOver = false;
  const taking = next.take(2).finally(() => (isOver = true));
  taking.catch(() => undefined);
  await advance(() => isOver);
  return taking;
}

describe('the next segment', () => {
  it('is made to its full length in advance, and then only gets its name', async () => {
    const scene = arrange();
    const { disk, next, advance, sizes } = scene;
    next.prepare(2);
    await advance(() => disk.counts.sync === 1);
    next.prepare(2);
    await advance(() => disk.waiting === 0);
    next.prepare(2);
    await advance(() => disk.waiting === 0);
    expect(sizes()).toEqual([[draft, length]]);
    expect(disk.counts.create).toBe(1);
    const { write } = disk.counts;
    const segment = await taken(scene);
    expect(segment).toMatchObject({ number: 2, end: segmentHead, allocated: length });
    expect(disk.counts).toMatchObject({ write, rename: 1, syncDir: 1 });
    const bytes = disk.files().get(name) as Buffer;
    expect(readHeader(bytes, name)).toEqual({ number: 2, salt: segment?.salt, version: formatVersion });
    expect(bytes.subarray(segmentHead).every((octet) => octet === 0)).toBe(true);
  });

  it('is taken as far as it is when it is wanted early', async () => {
    const scene = arrange();
    const { disk, next, advance, sizes } = scene;
    next.prepare(2);
    await advance(() => disk.counts.sync === 2);
    expect((await taken(scene))?.allocated).toBe(2 * stretch);
    expect(sizes()).toEqual([[name, 2 * stretch]]);
    // The one after it is made anew.
    next.prepare(3);
    await advance(() => disk.waiting === 0);
    expect(sizes()).toContainEqual(['0000000003.log.new', length]);
  });

  it('is made when it is wanted if it was not before', async () => {
    const scene = arrange();
    expect((await taken(scene))?.allocated).toBe(segmentHead);
    expect(scene.sizes()).toEqual([[name, segmentHead]]);
  });

  it('is left alone when the disk has no room for all of it', async () => {
    const scene = arrange({ capacity: stretch * 2.5 });
    const { disk, next, advance, sizes } = scene;
    next.prepare(2);
    await advance(() => disk.waiting === 0);
    expect(sizes()).toEqual([]);
    expect((await taken(scene))?.allocated).toBe(segmentHead);
  });

  it('is none of which only a part was written', async () => {
    const scene = arrange();
    const { disk, next, advance } = scene;
    disk.longestWrite = 100;
    next.prepare(2);
    await advance(() => disk.counts.write === 1);
    disk.longestWrite = Infinity;
    await advance(() => disk.waiting === 0);
    expect((await taken(scene))?.allocated).toBe(segmentHead);
    expect(readHeader(disk.files().get(name) as Buffer, name)?.number).toBe(2);
  });

  it('is not made while there is too little room', async () => {
    const { disk, space, next } = arrange({ capacity: 2 * length }, 3 * length);
    await space.check();
    next.prepare(2);
    expect([space.isLow, disk.counts.create]).toEqual([true, 0]);
    space.close();
  });

  it('goes when the room is wanted, and is made again when there is more', async () => {
    const { disk, next, advance, sizes } = arrange({ capacity: 10 * length });
    next.prepare(2);
    await advance(() => disk.counts.sync === 1);
    let isGone = false;
    void next.discard().then(() => (isGone = true));
    await advance(() => isGone);
    expect(sizes()).toEqual([]);
    next.prepare(2);
    await advance(() => disk.waiting === 0);
    expect(sizes()).toEqual([[draft, length]]);
  });

  it('is not what makes the room too little', async () => {
    const { disk, space, next, advance } = arrange({ capacity: 4 * length }, 2.5 * length);
    await space.check();
    next.prepare(2);
    await advance(() => disk.waiting === 0);
    expect([space.isLow, disk.counts.create]).toEqual([false, 0]);
  });

  it('takes the place of one that could not be removed', async () => {
    const scene = arrange();
    const { disk, next, advance, sizes } = scene;
    next.prepare(2);
    await advance(() => disk.counts.sync === 1);
    const { unlink } = disk;
    disk.unlink = () => {
      disk.unlink = unlink;
      return Promise.reject(systemError('EBUSY', 'resource busy or locked, unlink'));
    };
    await Promise.all([next.discard().catch(() => undefined), advance(() => disk.unlink === unlink)]);
    expect(sizes()).toHaveLength(1);
    expect((await taken(scene))?.allocated).toBe(segmentHead);
    expect(sizes()).toEqual([[name, segmentHead]]);
  });

  it('is never one whose sync failed', async () => {
    const scene = arrange();
    const { disk, next, advance, sizes } = scene;
    next.prepare(2);
    disk.syncError = systemError('EIO', 'i/o error, fdatasync');
    await advance(() => disk.waiting === 0);
    expect(sizes()).toEqual([]);
    await expect(taken(scene)).rejects.toThrow('EIO');
  });

  it('does not stay behind when it is not needed', async () => {
    const { disk, next, advance, sizes } = arrange();
    next.prepare(2);
    await advance(() => disk.counts.sync === 1);
    let isClosed = false;
    void next.close().then(() => (isClosed = true));
    await advance(() => isClosed);
    expect([isClosed, sizes()]).toEqual([true, []]);
    next.prepare(2);
    await advance(() => disk.waiting === 0);
    expect(sizes()).toEqual([]);
  });
});

describe('a log', () => {
  const segment = 65_536;

  /** Publishes what fills so much of a segment. */
  async function filled(disk: FakeDisk, part: number, durability: Durability = 'fsync', length = segment) {
    disk.isManual = false;
    const clock = new ManualClock();
    const journal = await DiskJournal.open(disk, { segment: length, durability, now: () => clock.now() });
    const broker = new Broker({ ...lent(clock), journal });
    journal.restore(broker);
    const { channel } = listen(broker);
    channel.declareQueue('q', { durable: true });
    for (let bytes = journal.stats.bytes; bytes < segment * part; bytes = journal.stats.bytes) {
      channel.publish('', 'q', { deliveryMode: 2 }, Buffer.alloc(4_000));
      await journal.flush();
    }
    return journal;
  }

  it('has the next segment ready from the middle of a short one on, and takes it away with it', async () => {
    const disk = new FakeDisk();
    const early = await filled(disk, 0.4);
    expect([...disk.files().keys()]).toEqual(['0000000001.log']);
    await early.close();
    const journal = await filled(disk, 0.6);
    await setImmediate();
    expect([...disk.files().keys()]).toEqual(['0000000001.log', draft]);
    await journal.close();
    expect([...disk.files().keys()]).toEqual(['0000000001.log']);
  });

  it('has none ready when no commit waits for the disk', async () => {
    const disk = new FakeDisk();
    const journal = await filled(disk, 0.6, 'os');
    await setImmediate();
    expect([...disk.files().keys()]).toEqual(['0000000001.log']);
    await journal.close();
  });

  it.each([
    ['of an older format', 1, 65_536],
    ['that is full', formatVersion, 8_192],
  ])('leaves a segment %s only when all that a dead process wrote there is safe', async (_how, version, full) => {
    const before = new FakeDisk();
    const first = await filled(before, 0.05);
    const safe = first.stats.bytes;
    const end = (await filled(before, 0.15)).stats.bytes;
    const bytes = (before.files().get('0000000001.log') as Buffer).subarray(0, end);
    writeHeader({ number: 1, salt: bytes.readUInt32BE(12), version }).copy(bytes);
    for (let seed = 1; seed <= 20; seed++) {
      const disk = new FakeDisk();
      disk.put('0000000001.log', Buffer.from(bytes.subarray(0, safe)));
      disk.isManual = false;
      // Written, and not synced: then it was killed.
      await (await disk.open('0000000001.log', 'write')).write([bytes.subarray(safe)], safe);
      const journal = await filled(disk, 0.3, 'fsync', full);
      expect(disk.files().has(name)).toBe(true);
      const messages = journal.stats.messages;
      const cut = disk.afterPowerCut(new Random(seed));
      cut.isManual = false;
      const found = await DiskJournal.open(cut, { segment });
      expect([found.damage.places, found.stats.messages]).toEqual([[], messages]);
    }
  });

  it('begins without the one that a dead process made', async () => {
    const disk = new FakeDisk();
    await filled(disk, 0.6);
    await setImmediate();
    const found = disk.copy();
    expect(found.files().has(draft)).toBe(true);
    const journal = await filled(found, 1.2);
    expect([...found.files().keys()]).toEqual(['0000000001.log', name, '0000000001.hint']);
    expect(journal.stats).toMatchObject({ segments: 2 });
    await journal.close();
  });
});
