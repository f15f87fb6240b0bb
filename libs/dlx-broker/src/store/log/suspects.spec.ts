import { describe, expect, it } from 'vitest';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { Broker, type Queue } from '../../engine/broker/index.js';
import { int32, longstr } from '../../engine/message/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { DiskJournal } from './disk-journal.js';
import type { DiskJournalOptions } from './options.js';
import { scan } from './scan.js';
import { readHeader, recordHead, recordTypes, segmentName, typeAt } from './segment-header.js';

const patterns = { compile: () => ({ matches: () => true }) };

/** A broker whose queues keep nearly all messages as rows. */
async function open(disk: FakeDisk, options: DiskJournalOptions = {}) {
  disk.isManual = false;
  const clock = new ManualClock();
  const usual = { segment: 10_000, memory: 0, diskFree: 0, now: () => clock.now() };
  const journal = await DiskJournal.open(disk, { ...usual, ...options });
  let made = 0;
  const rows = journal.rows!;
  const forget = rows.forget.bind(rows);
  rows.forget = (entry) => {
    made++;
    return forget(entry);
  };
  const broker = new Broker({ clock, journal, names: new CountedNames(), patterns, packing: { from: 4, rows: 2 } });
  journal.restore(broker);
  await journal.flush();
  const queue = (name = 'q'): Queue => broker.virtualHost('/').queues.get(name) as Queue;
  return { ...listen(broker), broker, journal, disk, queue, made: () => made };
}

type Harness = Awaited<ReturnType<typeof open>>;

async function publish({ channel, journal }: Harness, from: number, to: number, queue = 'q'): Promise<void> {
  for (let number = from; number < to; number++) {
    channel.publish('', queue, { deliveryMode: 2, messageId: `m${number}` }, Buffer.alloc(500));
    if (number % 3 === 0) await journal.flush();
  }
  await journal.flush();
}

async function filled(args: Readonly<Record<string, ReturnType<typeof longstr>>> = {}, count = 20): Promise<FakeDisk> {
  const harness = await open(new FakeDisk());
  harness.channel.declareQueue('q', { durable: true, arguments: new Map(Object.entries(args)) });
  await publish(harness, 0, count);
  await harness.journal.close();
  return harness.disk.copy();
}

/** The messages that count as delivered, and the others, in the order of delivery. */
function flagsOf({ queue }: Harness, name?: string): { again: string[]; fresh: string[] } {
  const flags = { again: [] as string[], fresh: [] as string[] };
  queue(name).peek(({ message, returns }) => {
    flags[returns > 0 ? 'again' : 'fresh'].push(message.properties.messageId!);
  });
  return flags;
}

const ids = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, index) => `m${from + index}`);

/** Closes the journal, and opens its disk again. */
async function reopened({ journal, disk }: Harness, options: DiskJournalOptions = {}): Promise<Harness> {
  await journal.close();
  return open(disk.copy(), options);
}

describe('messages that may have been delivered before a crash', () => {
  it('are rows at once, and need no record of their own', async () => {
    const disk = await filled();
    const before = (await open(disk.copy())).made();
    const crashed = await open(disk.copy(), { afterCrash: true });
    expect(crashed.made()).toBe(before);
    expect(before).toBeGreaterThan(10);
    expect(crashed.journal.stats).toMatchObject({ commits: 1 });
    const { bytes } = crashed.journal.stats;
    await publish(crashed, 20, 40);
    expect(crashed.made()).toBeGreaterThan(before + 10);
    expect(bytes - (await open(disk.copy())).journal.stats.bytes).toBeLessThan(600); // the header and checkpoint of a segment
  });

  it.each([['use'], ['check']] as const)(
    'are redelivered after each further start, and later ones are not (hints: %s)',
    async (hints) => {
      let harness = await open(await filled(), { afterCrash: true, hints });
      expect(flagsOf(harness)).toEqual({ again: ids(0, 20), fresh: [] });
      await publish(harness, 20, 30);
      expect(flagsOf(harness)).toEqual({ again: ids(0, 20), fresh: ids(20, 30) });
      for (let life = 0; life < 3; life++) {
        harness = await reopened(harness, { hints });
        expect(flagsOf(harness)).toEqual({ again: ids(0, 20), fresh: ids(20, 30) });
        expect(harness.made()).toBeGreaterThan(10);
      }
      harness = await reopened(harness, { hints, afterCrash: true });
      expect(flagsOf(harness)).toEqual({ again: ids(0, 30), fresh: [] });
      harness = await reopened(harness, { hints });
      expect(flagsOf(harness)).toEqual({ again: ids(0, 30), fresh: [] });
    },
  );

  it('are redelivered after a start that did nothing but that', async () => {
    const crashed = await open(await filled(), { afterCrash: true });
    const again = await reopened(await reopened(crashed));
    expect(flagsOf(again)).toEqual({ again: ids(0, 20), fresh: [] });
  });

  it('are redelivered when a compaction has moved their records', async () => {
    const small = { slack: 0, factor: 1.2 };
    let harness = await open(await filled({}, 30), { afterCrash: true, ...small });
    const { channel, journal } = harness;
    channel.declareQueue('other', { durable: true });
    for (let round = 0; round < 60; round++) {
      await publish(harness, 100, 103, 'other');
      for (let left = 3; left > 0; left--) channel.ack(channel.get('other')!.deliveryTag);
      await journal.flush();
    }
    expect([...harness.disk.files().keys()]).not.toContain(segmentName(1));
    harness = await reopened(harness, small);
    expect(flagsOf(harness)).toEqual({ again: ids(0, 30), fresh: [] });
  });

  it.each([
    ['none', []],
    ['the first one', ['m0']],
  ])('do not make later messages suspect that get their positions when %s is left', async (_, left) => {
    let harness = await open(await filled(), { afterCrash: true });
    const { channel } = harness;
    const taken = ids(0, 20).map(() => channel.get('q')!);
    for (const { deliveryTag, message } of taken)
      if (left.includes(message.properties.messageId!)) channel.reject(deliveryTag, true);
      else channel.ack(deliveryTag);
    await harness.journal.flush();
    harness = await reopened(harness);
    await publish(harness, 50, 60);
    harness = await reopened(harness);
    expect(flagsOf(harness)).toEqual({ again: left, fresh: ids(50, 60) });
  });

  it('count a further return as a further one, and keep their places', async () => {
    let harness = await open(await filled(), { afterCrash: true });
    const { deliveryTag } = harness.channel.get('q')!;
    harness.channel.reject(deliveryTag, true);
    harness.channel.get('q'); // unacknowledged when the process ends
    harness = await reopened(harness);
    expect(flagsOf(harness)).toEqual({ again: ids(0, 20), fresh: [] });
    const returns: number[] = [];
    harness.queue().peek((entry) => void returns.push(entry.returns));
    expect(returns).toEqual([3, ...Array.from({ length: 19 }, () => 1)]);
  });

  it('are none in a quorum queue', async () => {
    const args = { 'x-queue-type': longstr('quorum') };
    const crashed = await open(await filled(args), { afterCrash: true });
    expect(flagsOf(crashed)).toEqual({ again: [], fresh: ids(0, 20) });
    expect(crashed.journal.stats.commits).toBe(0);
    expect(flagsOf(await reopened(crashed))).toEqual({ again: [], fresh: ids(0, 20) });
  });

  it('are so in a queue with priorities, and after it was renamed', async () => {
    const crashed = await open(await filled({ 'x-max-priority': int32(3) as never }), { afterCrash: true });
    await crashed.journal.close();
    const disk = crashed.disk.copy();
    disk.isManual = false;
    const edited = await DiskJournal.open(disk, { diskFree: 0 });
    expect(edited.edit('/', 'q', 'renamed')).toBe(true);
    await edited.close();
    expect(flagsOf(await open(disk.copy()), 'renamed')).toEqual({ again: ids(0, 20), fresh: [] });
  });

  it('are so when a later checkpoint is damaged, and the log has lost the queue in it', async () => {
    const crashed = await open(await filled(), { afterCrash: true, segment: 100_000 });
    const once = await reopened(crashed, { segment: 100_000 });
    await publish(once, 20, 22);
    await once.journal.close();
    const disk = once.disk.copy();
    const name = segmentName(once.journal.stats.segments);
    const bytes = disk.files().get(name)!;
    const { salt } = readHeader(bytes, name)!;
    const found = [...scan(bytes, salt).records].filter(
      (at) => bytes[at + typeAt] === recordTypes.topology && bytes.indexOf('q', at) > 0,
    );
    disk.overwrite(name, found.at(-1)! + recordHead, Buffer.from([0xff]));
    const again = await open(disk);
    expect(again.journal.damage.places).not.toEqual([]);
    expect(flagsOf(again)).toEqual({ again: ids(0, 20), fresh: ids(20, 22) });
  });
});
