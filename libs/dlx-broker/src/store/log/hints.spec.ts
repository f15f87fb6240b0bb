import { describe, expect, it } from 'vitest';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { systemError } from '../../../../../test/durability/fake-file.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { Broker } from '../../engine/broker/index.js';
import { longstr } from '../../engine/message/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { damageLines } from '../open-data.js';
import { crc32 } from './bytes.js';
import { DiskJournal } from './disk-journal.js';
import type { StoreError } from './faults.js';
import { hintName, hintNumber, lastRecord } from './hints.js';
import type { DiskJournalOptions } from './options.js';
import { segmentName } from './segment-header.js';

const patterns = { compile: () => ({ matches: () => true }) };
const toDead = new Map([
  ['x-dead-letter-exchange', longstr('')],
  ['x-dead-letter-routing-key', longstr('dead')],
]);

async function open(disk = new FakeDisk(), options: DiskJournalOptions = {}) {
  disk.isManual = false;
  const clock = new ManualClock();
  const warnings: StoreError[] = [];
  const damaged = (error: StoreError): void => void warnings.push(error);
  const usual = { segment: 10_000, memory: 0, diskFree: 0, damaged, now: () => clock.now() };
  const journal = await DiskJournal.open(disk, { ...usual, ...options });
  const broker = new Broker({ clock, journal, names: new CountedNames(), patterns });
  journal.restore(broker);
  return { ...listen(broker), broker, journal, disk, warnings };
}

type Harness = Awaited<ReturnType<typeof open>>;

const bodyOf = (number: number): string => `message ${number}, `.padEnd(1_000, 'x');

/** Publishes, settles and dead-letters messages in several batches: about five segments. */
async function fill({ channel, journal }: Harness, messages = 40): Promise<void> {
  channel.declareQueue('dead', { durable: true });
  channel.declareQueue('q', { durable: true, arguments: toDead });
  for (let number = 0; number < messages; number++) {
    const properties = { deliveryMode: 2, messageId: `m${number >> 2}` };
    channel.publish('', 'q', properties, Buffer.from(bodyOf(number)));
    await journal.flush();
    if (number % 5 === 0) channel.ack(channel.get('q')!.deliveryTag);
    if (number % 5 === 1) channel.reject(channel.get('q')!.deliveryTag, false);
    if (number % 5 === 2) channel.reject(channel.get('q')!.deliveryTag, true);
  }
  await journal.flush();
}

async function filled(options: DiskJournalOptions = {}): Promise<FakeDisk> {
  const harness = await open(new FakeDisk(), options);
  await fill(harness);
  await harness.journal.close();
  return harness.disk.copy();
}

const hintsOn = (disk: FakeDisk): number[] =>
  [...disk.files().keys()].map(hintNumber).filter((number) => number !== undefined);

/** What a reader of bodies finds in the queues: a text, or the code of the error. */
function contentOf({ broker }: Harness): Record<string, string[]> {
  const content: Record<string, string[]> = {};
  for (const [name, queue] of broker.virtualHost('/').queues) {
    const texts: string[] = (content[name] = []);
    queue.peek(({ message, position, returns }) => {
      let body: string;
      try {
        body = Buffer.from(message.body).toString().trim();
      } catch (error) {
        body = (error as StoreError).code;
      }
      texts.push(`${position} ${returns} ${message.properties.messageId} ${body}`);
    });
  }
  return content;
}

/** Changes the bytes of a file. */
function change(disk: FakeDisk, name: string, by: (bytes: Buffer) => Buffer | void): void {
  const bytes = disk.files().get(name) as Buffer;
  disk.put(name, by(bytes) ?? bytes);
}

/** Lets no hint be made until the returned function is called. */
function holdHints(disk: FakeDisk): () => void {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const openFile = disk.open.bind(disk);
  disk.open = async (name, how) => {
    if (name.includes('.hint') && how === 'create') await released;
    return openFile(name, how);
  };
  return release;
}

describe('hints', () => {
  it('open a log without its full segments, with the same result', async () => {
    const disk = await filled();
    const segments = [...disk.files().keys()].filter((name) => name.endsWith('.log')).length;
    expect(segments).toBeGreaterThan(4);
    expect(hintsOn(disk)).toHaveLength(segments - 1);
    const { read } = disk.counts;
    const hinted = await open(disk.copy());
    expect(hinted.journal.stats.hinted).toBe(segments - 1);
    const scanned = await open(disk.copy(), { hints: 'check' });
    expect(scanned.journal.stats.hinted).toBe(0);
    expect(scanned.journal.damage.places).toEqual([]);
    expect(contentOf(hinted)).toEqual(contentOf(scanned));
    expect(hinted.journal.stats).toMatchObject({ liveBytes: scanned.journal.stats.liveBytes });
    expect(disk.counts.read).toBe(read);
  });

  it('are written as well for a segment that an earlier process began', async () => {
    const disk = new FakeDisk();
    for (let life = 0; life < 6; life++) {
      const harness = await open(disk);
      await fill(harness, 5);
      await harness.journal.close();
    }
    const again = await open(disk.copy(), { hints: 'check' });
    expect(again.journal.damage.places).toEqual([]);
    expect(hintsOn(disk)).toHaveLength(again.journal.stats.segments - 1);
    expect(contentOf(await open(disk.copy()))).toEqual(contentOf(again));
  });

  it('of a directory without any are not needed', async () => {
    const disk = await filled();
    const bare = new FakeDisk();
    for (const [name, bytes] of disk.files()) if (hintNumber(name) === undefined) bare.put(name, bytes);
    const old = await open(bare);
    expect(old.journal.stats.hinted).toBe(0);
    expect(contentOf(old)).toEqual(contentOf(await open(disk)));
  });

  const second = hintName(2);
  it.each<[string, (bytes: Buffer) => Buffer | void]>([
    ['truncated', (bytes) => bytes.subarray(0, bytes.length - 1)],
    ['empty', () => Buffer.alloc(0)],
    ['longer', (bytes) => Buffer.concat([bytes, Buffer.alloc(1)])],
    ['garbled', (bytes) => void bytes.write('?', bytes.length - 20)],
    ['garbled in its header', (bytes) => void bytes.write('?', 30)],
    ['something else', () => Buffer.from('a letter to a friend'.repeat(100))],
  ])('are not used when they are %s: the segment is read, and the hint reported and deleted', async (_how, by) => {
    const disk = await filled();
    const right = contentOf(await open(disk.copy()));
    change(disk, second, by);
    const found = await open(disk.copy());
    expect(contentOf(found)).toEqual(right);
    expect(found.journal.damage).toMatchObject({ places: [{ file: second }], queues: [], misplaced: 0 });
    expect(damageLines(found.journal.damage)).toEqual([
      `${second} is not what was written; its segment was read instead, and nothing is lost by that`,
    ]);
    expect(hintsOn(found.disk)).not.toContain(2);
    expect((await open(disk.copy(), { hints: 'check' })).journal.damage.places).toMatchObject([{ file: second }]);
  });

  it('of other content than the segment has are not used, although both are whole', async () => {
    const disk = await filled();
    // The time in the last commit of the segment.
    change(disk, segmentName(2), (bytes) => {
      const at = bytes.length - lastRecord;
      bytes.writeDoubleBE(1, at + 17);
      bytes.writeUInt32BE(crc32(bytes, at + 8, bytes.length, bytes.readUInt32BE(12)), at + 4);
    });
    const found = await open(disk);
    const others = hintsOn(disk).length;
    expect([found.journal.stats.hinted, found.journal.damage.places]).toEqual([others, []]);
    expect(found.journal.stats.segments).toBe(others + 2);
    expect(hintsOn(found.disk)).not.toContain(2);
  });

  it.each<[string, (disk: FakeDisk) => Buffer]>([
    ['of another segment', (disk) => disk.files().get(hintName(1))!],
    ['of a newer version', (disk) => newerThan(disk.files().get(second)!)],
  ])('%s are not used', async (_how, of) => {
    const disk = await filled();
    const right = contentOf(await open(disk.copy()));
    disk.put(second, of(disk));
    const found = await open(disk);
    expect(contentOf(found)).toEqual(right);
    expect(hintsOn(found.disk)).not.toContain(2);
  });

  it('are deleted when the segment is gone, or is the last one, and so are drafts', async () => {
    const disk = await filled();
    const last = Math.max(...hintsOn(disk)) + 1;
    for (const number of [last, last + 5]) disk.put(hintName(number), disk.files().get(second)!);
    disk.put(`${hintName(last)}.new`, Buffer.alloc(0));
    const { journal } = await open(disk);
    expect(hintsOn(disk)).toHaveLength(last - 1);
    expect([...disk.files().keys()].filter((name) => name.endsWith('.new'))).toEqual([]);
    expect(journal.damage.places).toEqual([]);
  });

  it('that cannot be read now are left alone: the segment is read', async () => {
    const disk = await filled();
    const right = contentOf(await open(disk.copy()));
    const list = disk.open.bind(disk);
    disk.open = async (name, how) => {
      if (hintNumber(name) !== undefined) throw systemError('EIO', 'input/output error');
      return list(name, how);
    };
    const found = await open(disk);
    expect(contentOf(found)).toEqual(right);
    expect(found.journal.damage.places).toEqual([]);
    expect(hintsOn(disk)).toContain(2);
  });
});

describe('a body that went bad in a segment with a hint', () => {
  const garble = (disk: FakeDisk): void =>
    change(disk, segmentName(2), (bytes) => void bytes.write('garbled', bytes.indexOf('message 13,') + 100));

  it('is found when it is read; then the hint is deleted, and the next start counts the damage', async () => {
    const disk = await filled();
    garble(disk);
    const harness = await open(disk);
    expect(harness.journal.damage.places).toEqual([]);
    const lost = Object.values(contentOf(harness)).flat();
    expect(lost.filter((line) => line.endsWith('damaged'))).toHaveLength(1);
    expect(harness.warnings).toMatchObject([{ code: 'damaged' }]);
    await harness.journal.close();
    expect(hintsOn(disk)).not.toContain(2);
    const { journal } = await open(disk.copy());
    expect(journal.damage.queues.map(({ lost: count }) => count)).toEqual([1]);
    expect(journal.damage.places).toMatchObject([{ file: segmentName(2) }]);
  });

  it('is found by a check of the directory', async () => {
    const disk = await filled();
    garble(disk);
    const { journal } = await open(disk, { hints: 'check' });
    expect(journal.damage.places).toMatchObject([{ file: segmentName(2) }]);
    expect(journal.damage.queues.map(({ lost }) => lost)).toEqual([1]);
  });

  it('is found by a compaction, and the next start frees the rest of its segment', async () => {
    const disk = await filled({ slack: Infinity });
    garble(disk);
    const harness = await open(disk, { slack: 0, factor: 0.1 });
    for (let turn = 0; turn < 40; turn++) {
      harness.channel.publish('', 'dead', { deliveryMode: 2 }, Buffer.from('more'));
      await harness.journal.flush();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(harness.warnings).toMatchObject([{ code: 'damaged' }]);
    await harness.journal.close();
    expect(disk.files().has(segmentName(1))).toBe(false);
    expect(hintsOn(disk)).not.toContain(1);
    expect(hintsOn(disk)).not.toContain(2);
    const { journal } = await open(disk.copy());
    expect(journal.damage.queues.map(({ lost }) => lost)).toEqual([1]);
  });
});

describe('the hint of a segment', () => {
  it('is left out when the disk is full, and the log goes on', async () => {
    const harness = await open();
    const { disk } = harness;
    const list = disk.open.bind(disk);
    disk.open = async (name, how) => {
      const file = await list(name, how);
      if (!name.includes('.hint')) return file;
      return Object.assign(Object.create(file) as typeof file, {
        write: async (chunks: readonly Uint8Array[]) => file.write([chunks[0]!.subarray(0, 7)], 0),
        sync: () => file.sync(),
        close: () => file.close(),
      });
    };
    await fill(harness);
    await harness.journal.close();
    expect([...disk.files().keys()].filter((name) => name.includes('.hint'))).toEqual([]);
    disk.open = list;
    const again = await open(disk.copy());
    expect(again.journal.damage.places).toEqual([]);
    expect(contentOf(again)['q']!.length).toBeGreaterThan(10);
  });

  it('delays no confirm while it is being written, although segments are deleted meanwhile', async () => {
    const harness = await open(new FakeDisk(), { slack: 0, factor: 1.2 });
    const { disk, channel, journal } = harness;
    channel.declareQueue('q', { durable: true });
    const release = holdHints(disk);
    let durable = 0;
    for (let number = 0; number < 80; number++) {
      channel.publish('', 'q', { deliveryMode: 2 }, Buffer.from(bodyOf(number)));
      journal.commit(() => durable++);
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
      if (number > 2) channel.ack(channel.get('q')!.deliveryTag);
    }
    expect(durable).toBe(80);
    release();
    await journal.close();
  });

  it('is not written while eight others wait', async () => {
    const harness = await open(new FakeDisk(), { slack: Infinity });
    const { disk, journal } = harness;
    const release = holdHints(disk);
    await fill(harness, 200);
    expect(journal.stats.segments).toBeGreaterThan(12);
    release();
    await journal.close();
    // The first one was being written.
    expect(hintsOn(disk)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('is deleted with the segment, also if the segment was read itself at the start', async () => {
    const disk = await filled({ slack: Infinity });
    // As after a power cut that undid the end of the file.
    change(disk, segmentName(1), (bytes) => Buffer.concat([bytes, Buffer.alloc(4_096)]));
    const hinted = hintsOn(disk).length;
    const harness = await open(disk, { slack: Infinity });
    expect([harness.journal.stats.hinted, hintsOn(disk).length]).toEqual([hinted - 1, hinted]);
    for (const name of harness.broker.virtualHost('/').queues.keys()) harness.channel.purgeQueue(name);
    await harness.journal.close();
    expect(disk.files().has(segmentName(1))).toBe(false);
    expect(hintsOn(disk)).not.toContain(1);
  });

  it('is deleted with the segment, and a compaction writes those of its new segments', async () => {
    const harness = await open(new FakeDisk(), { slack: 0, factor: 1.2 });
    await fill(harness, 200);
    for (let turn = 0; turn < 20; turn++) await harness.journal.flush();
    await harness.journal.close();
    const files = [...harness.disk.files().keys()];
    const segments = files.filter((name) => name.endsWith('.log')).sort();
    expect(segments[0]).not.toBe(segmentName(1));
    expect(hintsOn(harness.disk).sort((one, other) => one - other)).toEqual(
      segments.slice(0, -1).map((name) => Number.parseInt(name, 10)),
    );
    const checked = await open(harness.disk.copy(), { hints: 'check' });
    expect(checked.journal.damage.places).toEqual([]);
    expect(contentOf(await open(harness.disk.copy()))).toEqual(contentOf(checked));
  });

  it('is not written when most of the segment is no body', async () => {
    const harness = await open();
    harness.channel.declareQueue('q', { durable: true });
    for (let number = 0; number < 400; number++) {
      const properties = { deliveryMode: 2, messageId: `a long name, and another one each time: ${number}` };
      harness.channel.publish('', 'q', properties, Buffer.from('x'));
      await harness.journal.flush();
    }
    await harness.journal.close();
    expect(harness.journal.stats.segments).toBeGreaterThan(2);
    expect(hintsOn(harness.disk)).toEqual([]);
  });
});

function newerThan(hint: Buffer): Buffer {
  hint.writeUInt16BE(2, 8);
  hint.writeUInt32BE(crc32(hint, 0, 44, 0), 44);
  return hint;
}
