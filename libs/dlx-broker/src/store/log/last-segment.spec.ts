import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { amount } from '../../../../../test/amounts.js';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { Random } from '../../../../../test/fuzz/random.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { Broker } from '../../engine/broker/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { damageLines } from '../open-data.js';
import { DiskJournal } from './disk-journal.js';
import { hintName } from './hints.js';
import type { DiskJournalOptions } from './options.js';
import { isBlank, scan } from './scan.js';
import { preparedBytes, readHeader, segmentHead, segmentName, segmentNumber } from './segment-header.js';

const patterns = { compile: () => ({ matches: () => true }) };
const segment = 16_384;

async function open(disk: FakeDisk, options: DiskJournalOptions = {}) {
  disk.isManual = false;
  const clock = new ManualClock();
  const journal = await DiskJournal.open(disk, { segment, diskFree: 0, memory: 0, ...options });
  const broker = new Broker({ clock, journal, names: new CountedNames(), patterns });
  journal.restore(broker);
  const { channel } = listen(broker);
  channel.declareQueue('q', { durable: true });
  const publish = (size = 700): void => void channel.publish('', 'q', { deliveryMode: 2 }, Buffer.alloc(size, 'm'));
  const length = (): number => broker.virtualHost('/').queues.get('q')?.length ?? 0;
  return { journal, broker, disk, channel, publish, length };
}

type Scene = Awaited<ReturnType<typeof open>>;

const numbersOn = (disk: FakeDisk): number[] =>
  [...disk.files().keys()].map(segmentNumber).filter((number) => number !== undefined);

const lastOn = (disk: FakeDisk): number => Math.max(...numbersOn(disk));

const bytesOf = (disk: FakeDisk, number: number): Buffer => disk.files().get(segmentName(number))!;

/** A copy of the disk with other content of one file, or without that file. */
function changed(disk: FakeDisk, name: string, content: Buffer | undefined): FakeDisk {
  const copy = new FakeDisk();
  for (const [each, bytes] of disk.files()) if (each !== name) copy.put(each, bytes);
  if (content !== undefined) copy.put(name, content);
  return copy;
}

/** Publishes until the last segment, which was prepared, has so many messages, a batch each. */
async function fill({ publish, journal, disk }: Scene, into: number, messages: number): Promise<void> {
  while (lastOn(disk) < into) {
    publish();
    await journal.flush();
    await setImmediate();
  }
  for (let left = messages; left > 1; left--) {
    publish();
    await journal.flush();
    await setImmediate();
  }
}

/** The disk of a process that was killed with so many messages in its last segment. */
async function killed(messages: number): Promise<FakeDisk> {
  const scene = await open(new FakeDisk());
  await fill(scene, 3, messages);
  expect(preparedBytes(bytesOf(scene.disk, 3))).toBe(segment);
  return scene.disk.copy();
}

const damageOf = async (disk: FakeDisk) => (await open(disk)).journal.damage;
const undamaged = { places: [], queues: [], misplaced: 0 };

/** Where the batches of a segment end. */
function ends(bytes: Buffer): number[] {
  const { records } = scan(bytes, readHeader(bytes, 'x')!.salt);
  return [...records].filter((at) => bytes[at + 8] === 8).map((at) => at + 25);
}

describe('a last segment that is cut short', () => {
  it('in the middle of a batch is reported, wherever that is, and a copy of it is kept', async () => {
    const disk = await killed(6);
    const name = segmentName(3);
    const bytes = bytesOf(disk, 3);
    const batches = ends(bytes);
    expect(batches.length).toBe(6);
    for (const [index, from] of batches.slice(0, -1).entries()) {
      const to = batches[index + 1] as number;
      for (const size of [from + 9, from + 100, from + 400, to - 60, to - 10, to - 1]) {
        const copy = changed(disk, name, bytes.subarray(0, size));
        const { journal } = await open(copy);
        expect(journal.damage.places, `at ${size}`).toEqual([{ file: name, from, to: size, copy: `${name}.bad` }]);
        expect(copy.files().get(`${name}.bad`)).toEqual(bytes.subarray(0, size));
        await journal.close();
        // It is reported once, and its rest is served.
        expect(await damageOf(copy)).toEqual(undamaged);
      }
    }
  });

  it('is not reported where a crash may leave the same: behind a batch, and after a second process wrote to it', async () => {
    const disk = await killed(6);
    const name = segmentName(3);
    const bytes = bytesOf(disk, 3);
    expect(await damageOf(changed(disk, name, bytes.subarray(0, ends(bytes)[2])))).toEqual(undamaged);
    const second = await open(disk);
    second.publish();
    await second.journal.flush();
    const after = bytesOf(second.disk, 3);
    expect(await damageOf(changed(second.disk, name, after.subarray(0, ends(after).at(-1)! - 40)))).toEqual(undamaged);
  });

  it('is not what the first segment is, which grows with its batches', async () => {
    const scene = await open(new FakeDisk());
    for (let n = 0; n < 3; n++) {
      scene.publish();
      await scene.journal.flush();
    }
    const bytes = bytesOf(scene.disk, 1);
    expect(preparedBytes(bytes)).toBe(0);
    expect(await damageOf(changed(scene.disk, segmentName(1), bytes.subarray(0, ends(bytes).at(-1)! - 40)))).toEqual(
      undamaged,
    );
  });

  it('is not reported when an earlier version had cut it, and died in its first batch', async () => {
    const disk = await killed(4);
    const name = segmentName(3);
    const bytes = bytesOf(disk, 3);
    const end = ends(bytes).at(-1)!;
    // An earlier version cuts the file to its last batch, and then writes.
    const scene = await open(changed(disk, name, bytes.subarray(0, end)));
    scene.publish();
    await scene.journal.flush();
    const after = bytesOf(scene.disk, 3);
    const first = after.subarray(end, ends(after).at(-1));
    expect(first.length).toBeGreaterThan(200);
    for (let size = 1; size < first.length; size += size < 20 ? 1 : 29)
      expect(await damageOf(changed(disk, name, after.subarray(0, end + size))), `${size}`).toEqual(undamaged);
  });

  it('keeps its length when the rest of a batch is removed at the start', async () => {
    const disk = await killed(4);
    const name = segmentName(3);
    const bytes = Buffer.from(bytesOf(disk, 3));
    const end = ends(bytes).at(-1)!;
    bytes.fill('x', end, end + 2_000);
    const { disk: found } = await open(changed(disk, name, bytes));
    const { length } = bytesOf(found, 3);
    expect(length).toBeGreaterThanOrEqual(segment);
  });
});

describe('a last segment that is missing', () => {
  it('is named when the draft of the next one is there', async () => {
    const disk = await killed(16);
    expect(disk.files().has(`${segmentName(4)}.new`)).toBe(true);
    const copy = changed(changed(disk, segmentName(3), undefined), hintName(2), undefined);
    const missing = { file: segmentName(3), from: 0, to: 0, isMissing: true };
    const { journal, publish, length } = await open(copy);
    expect(journal.damage.places).toEqual([missing]);
    publish();
    await journal.close();
    const again = await open(copy);
    expect([again.journal.damage, again.length()]).toEqual([undamaged, length()]);
  });

  it('is named when the segment before it has its hint, also after a shutdown', async () => {
    const scene = await open(new FakeDisk());
    await fill(scene, 3, 3);
    await scene.journal.close();
    const log = scene.disk.copy();
    expect([...log.files().keys()].filter((name) => name.endsWith('.new'))).toEqual([]);
    const copy = changed(log, segmentName(3), undefined);
    expect((await damageOf(copy)).places).toEqual([{ file: segmentName(3), from: 0, to: 0, isMissing: true }]);
    expect(await damageOf(copy)).toEqual(undamaged);
  });

  it('is not named for a draft without a header, which others may have made', async () => {
    const disk = await killed(3);
    disk.put(`${segmentName(9)}.new`, Buffer.alloc(0));
    disk.put(`${segmentName(12)}.new`, Buffer.from('a note of somebody else'));
    expect(await damageOf(disk)).toEqual(undamaged);
  });
});

describe('an empty file with the number of a segment far beyond the last one', () => {
  it('is named itself: no segment is missing', async () => {
    const disk = await killed(3);
    const before = await open(disk.copy());
    for (const number of [9, 12]) disk.put(segmentName(number), Buffer.alloc(0));
    const scene = await open(disk);
    expect(scene.journal.damage).toMatchObject({
      places: [
        { file: segmentName(12), isEmpty: true },
        { file: segmentName(9), isEmpty: true },
      ],
      queues: [],
    });
    expect(damageLines(scene.journal.damage)).toEqual([
      expect.stringMatching(/^0000000012\.log has the name of a segment and is empty/),
      expect.stringMatching(/^0000000009\.log has the name of a segment and is empty/),
    ]);
    expect(scene.length()).toBe(before.length());
    expect(numbersOn(disk)).toEqual(numbersOn(before.disk));
    await scene.journal.close();
    expect(await damageOf(disk)).toEqual(undamaged);
  });

  it('is a segment without its content when it follows the last one', async () => {
    const disk = await killed(3);
    disk.put(segmentName(4), Buffer.alloc(0));
    expect((await damageOf(disk)).places).toMatchObject([{ file: segmentName(4), from: 0, to: 0 }]);
  });
});

/** Whether the last segment was prepared, and has a part of a batch. */
function isTorn(disk: FakeDisk): boolean {
  const numbers = numbersOn(disk);
  const bytes = numbers.length === 0 ? Buffer.alloc(0) : bytesOf(disk, Math.max(...numbers));
  return preparedBytes(bytes) > 0 && !isBlank(bytes, ends(bytes).at(-1) ?? segmentHead);
}

describe('power cuts', () => {
  const points = amount('DURABILITY_POINTS', 150, 2_000);
  const seed = Number(process.env['DURABILITY_SEED'] ?? 1);

  it('leave no segment that is called cut short or missing', { timeout: 60_000 + points * 60 }, async () => {
    let cuts = 0;
    let torn = 0;
    for (let each = seed; cuts < points; each++) {
      const random = new Random(each);
      const size = random.pick([4_096, segment, segment]);
      let disk = new FakeDisk();
      for (let life = 0; life < 4; life++) {
        const found: { readonly disk: FakeDisk; readonly confirmed: number }[] = [];
        let confirmed = 0;
        const cut = (): void => {
          if (random.chance(0.2)) found.push({ disk: disk.afterPowerCut(random), confirmed });
        };
        // The power may fail while the log is opened, too.
        disk.onStep = cut;
        const scene = await open(disk, { segment: size });
        confirmed = scene.length();
        for (const one of found) Object.assign(one, { confirmed });
        for (let batch = random.integer(5, 30); batch > 0; batch--) {
          for (let left = random.pick([1, 1, 1, 3, 8]); left > 0; left--)
            scene.publish(random.pick([40, 40, 300, 1_200]));
          await scene.journal.flush();
          confirmed = scene.length();
          if (random.chance(0.2)) await setImmediate();
        }
        if (random.chance(0.2)) await scene.journal.close();
        const end = { disk: disk.afterPowerCut(random), confirmed };
        disk.onStep = () => undefined;
        for (const one of [...found, end]) {
          cuts++;
          if (isTorn(one.disk)) torn++;
          const is = await open(one.disk.copy(), { segment: size });
          expect(is.journal.damage, `seed ${each}, cut ${cuts}`).toEqual(undamaged);
          expect(is.length(), `seed ${each}, cut ${cuts}`).toBeGreaterThanOrEqual(one.confirmed);
          await is.journal.close();
        }
        disk = random.pick([...found, end]).disk;
      }
    }
    console.info(`power cuts: ${cuts} from seed ${seed} on; ${torn} left a part of a batch in a prepared segment`);
    expect(torn).toBeGreaterThan(points / 50);
  });
});
