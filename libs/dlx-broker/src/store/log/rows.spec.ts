import { describe, expect, it } from 'vitest';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { Broker, type Entry, type Queue } from '../../engine/broker/index.js';
import { int32, longstr } from '../../engine/message/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { ByteSource } from './bytes.js';
import { DiskJournal } from './disk-journal.js';
import type { DiskFile, DiskJournalOptions } from './options.js';
import { scan } from './scan.js';
import { readHeader, recordHead, recordTypes, segmentName, typeAt } from './segment-header.js';

const patterns = { compile: () => ({ matches: () => true }) };
const toDead = new Map([
  ['x-dead-letter-exchange', longstr('')],
  ['x-dead-letter-routing-key', longstr('dead')],
]);

/** A broker whose queues keep nearly all messages as rows. */
async function open(disk = new FakeDisk(), options: DiskJournalOptions = {}, clock = new ManualClock()) {
  disk.isManual = false;
  const usual = { segment: 10_000, memory: 0, diskFree: 0, now: () => clock.now() };
  const journal = await DiskJournal.open(disk, { ...usual, ...options });
  const forgotten: number[] = [];
  const rows = journal.rows!;
  const forget = rows.forget.bind(rows);
  rows.forget = (entry) => {
    const number = forget(entry);
    forgotten.push(number);
    return number;
  };
  const broker = new Broker({ clock, journal, names: new CountedNames(), patterns, packing: { from: 4, rows: 2 } });
  journal.restore(broker);
  const queue = (name: string): Queue => broker.virtualHost('/').queues.get(name) as Queue;
  return { ...listen(broker), broker, journal, disk, clock, queue, forgotten };
}

type Harness = Awaited<ReturnType<typeof open>>;

const bodyOf = (number: number): Buffer => Buffer.from(`message ${number}, `.padEnd(500, 'x'));

async function fill({ channel, journal }: Harness, messages: number, name = 'q', args = toDead): Promise<void> {
  channel.declareQueue('dead', { durable: true });
  channel.declareQueue(name, { durable: true, arguments: args });
  for (let number = 0; number < messages; number++) {
    channel.publish('', name, { deliveryMode: 2, messageId: `m${number}` }, bodyOf(number));
    if (number % 3 === 0) await journal.flush();
  }
  await journal.flush();
}

function idsIn(queue: Queue): string[] {
  const ids: string[] = [];
  queue.peek(({ message }) => {
    const id = message.properties.messageId as string;
    expect(Buffer.from(message.body).equals(bodyOf(Number(id.slice(1))))).toBe(true);
    ids.push(id);
  });
  return ids;
}

/** Where the records of each entry begin, by the number of the entry. */
function entriesIn(segment: Buffer): Map<number, number[]> {
  const places = new Map<number, number[]>();
  const source = new ByteSource(segment);
  const { salt } = readHeader(segment, segmentName(1))!;
  for (const at of scan(segment, salt).records) {
    if (segment[at + typeAt] !== recordTypes.entry) continue;
    source.at = at + recordHead;
    const number = source.varint();
    places.set(number, [...(places.get(number) ?? []), at]);
  }
  return places;
}

const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `m${from + index}`);

describe('rows of a queue in the log', () => {
  it('become messages again, with the bodies that were written, in this life and in the next', async () => {
    const harness = await open();
    await fill(harness, 100);
    expect(new Set(harness.forgotten).size).toBeGreaterThan(70);
    expect(idsIn(harness.queue('q'))).toEqual(range(0, 100));
    const again = await open(harness.disk.copy());
    expect(new Set(again.forgotten).size).toBeGreaterThan(70);
    for (const { channel, journal } of [harness, again]) {
      for (let number = 0; number < 100; number++) {
        const got = channel.get('q')!;
        expect(Buffer.from(got.body).equals(bodyOf(number))).toBe(true);
        channel.ack(got.deliveryTag);
      }
      await journal.flush();
      expect(journal.stats).toMatchObject({ entries: 0, messages: 0 });
    }
    expect((await open(harness.disk.copy())).journal.stats.entries).toBe(0);
  });

  it('die and are dead-lettered without their bodies being read', async () => {
    const harness = await open();
    await fill(harness, 60, 'hurried', new Map([...toDead, ['x-message-ttl', int32(50)]] as never));
    const { read } = harness.disk.counts;
    harness.clock.advance(60);
    await harness.journal.flush();
    expect(harness.disk.counts.read - read).toBeLessThan(40); // the seals of hints
    const again = await open(harness.disk.copy());
    for (const { queue } of [harness, again]) expect(idsIn(queue('dead'))).toEqual(range(0, 60));
  });

  it('are copied by a compaction as they are', async () => {
    const harness = await open(new FakeDisk(), { slack: 0, factor: 1.2 });
    await fill(harness, 200, 'limited', new Map([['x-message-ttl', int32(60_000)]]) as never);
    harness.clock.advance(10);
    // All but every eighth message leave, so that what stays is in segments that are nearly empty.
    const queue = harness.queue('limited');
    const leaving: Entry[] = [];
    queue.peek((entry) => void (entry.position % 8 === 0 || leaving.push(entry)));
    for (const entry of leaving) harness.broker.virtualHost('/').discard(queue, entry);
    for (let turn = 0; turn < 60; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      await harness.journal.flush();
    }
    const kept = idsIn(queue);
    expect(kept).toHaveLength(25);
    const { segments } = harness.journal.stats;
    expect(segments).toBeLessThan(8);
    for (const hints of ['use', 'check'] as const) {
      const again = await open(harness.disk.copy(), { hints }, new ManualClock(harness.clock.now()));
      expect([idsIn(again.queue('limited')), again.journal.damage.places]).toEqual([kept, []]);
      again.clock.advance(60_000 - 11);
      expect(again.queue('limited').length).toBe(25);
      again.clock.advance(1);
      expect(again.queue('limited').length).toBe(0);
    }
  });

  it('are copied as they were last: earlier records of their numbers are of other messages', async () => {
    const harness = await open(new FakeDisk(), { segment: 65_536, slack: 20_000, factor: 1.2 });
    // The numbers of the first ones are used again, in the same segment.
    for (let round = 0; round < 6; round++) {
      await fill(harness, 15, 'reused', new Map());
      if (round < 5) harness.channel.purgeQueue('reused');
      await harness.journal.flush();
    }
    for (let number = 0; number < 400; number++) {
      harness.channel.publish('', 'dead', { deliveryMode: 2 }, bodyOf(number));
      await harness.journal.flush();
      harness.channel.ack(harness.channel.get('dead')!.deliveryTag);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(harness.disk.files().has(segmentName(1))).toBe(false);
    expect(idsIn(harness.queue('reused'))).toEqual(range(0, 15));
    const again = await open(harness.disk.copy(), { hints: 'check' });
    expect(again.journal.damage).toEqual({ places: [], queues: [], misplaced: 0 });
    expect(idsIn(again.queue('reused'))).toEqual(range(0, 15));
  });

  it('stay in a segment in which the last record of one is damaged: an earlier record of its number is of another message', async () => {
    const damaged: string[] = [];
    const harness = await open(new FakeDisk(), {
      segment: 65_536,
      slack: 20_000,
      factor: 1.2,
      damaged: ({ message }) => void damaged.push(message),
    });
    // The numbers of the first ones are used again, in the same segment.
    for (let round = 0; round < 2; round++) {
      await fill(harness, 15, 'reused', new Map());
      if (round === 0) harness.channel.purgeQueue('reused');
      await harness.journal.flush();
    }
    const first = harness.disk.files().get(segmentName(1)) as Buffer;
    const places = entriesIn(first).get(harness.forgotten.at(-1) as number) as number[];
    expect(places).toHaveLength(2);
    harness.disk.overwrite(segmentName(1), (places[1] as number) + typeAt + 3, Buffer.from([0xff]));
    for (let number = 0; number < 400; number++) {
      harness.channel.publish('', 'dead', { deliveryMode: 2 }, bodyOf(number));
      await harness.journal.flush();
      harness.channel.ack(harness.channel.get('dead')!.deliveryTag);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(damaged).toEqual([expect.stringContaining(segmentName(1))]);
    expect(idsIn(harness.queue('reused'))).toEqual(range(0, 15));
    const again = await open(harness.disk.copy());
    expect(again.journal.damage.places).toMatchObject([{ file: segmentName(1) }]);
    expect(idsIn(again.queue('reused'))).toHaveLength(14);
  });

  it.each([
    ['before', 0, 70],
    ['behind', 80, 10],
  ] as const)(
    'are made of returned messages when a queue is restored, with unacknowledged messages %s them',
    async (_where, held, rows) => {
      const harness = await open();
      await fill(harness, 100);
      for (let number = 0; number < 90; number++) harness.channel.get('q');
      for (let number = 0; number < 90; number++)
        if (number < held || number >= held + 10) harness.channel.reject(number + 1, true);
      await harness.journal.flush();
      const again = await open(harness.disk.copy());
      expect(new Set(again.forgotten).size).toBeGreaterThan(rows - 8);
      expect(idsIn(again.queue('q'))).toEqual(range(0, 100));
      await again.journal.flush();
      const third = await open(again.disk.copy());
      expect(new Set(third.forgotten).size).toBeGreaterThan(80);
      expect(idsIn(third.queue('q'))).toEqual(range(0, 100));
      for (let number = 0; number < 100; number++) {
        const got = third.channel.get('q')!;
        expect([got.message.properties.messageId, got.redelivered]).toEqual([`m${number}`, number < 90]);
      }
    },
  );

  it('go with their queue once each, also when one has the body of another', async () => {
    const harness = await open();
    const { channel, journal } = harness;
    channel.declareExchange('both', { type: 'fanout', durable: true });
    channel.declareQueue('q', { durable: true });
    // What dies here comes to the other queue, where its original is.
    const toOther = [
      ['x-dead-letter-exchange', longstr('')],
      ['x-dead-letter-routing-key', longstr('q')],
    ] as const;
    channel.declareQueue('dying', { durable: true, arguments: new Map(toOther) });
    for (const name of ['q', 'dying']) channel.bindQueue(name, 'both', '');
    for (let number = 0; number < 40; number++) {
      channel.publish('both', '', { deliveryMode: 2, messageId: `m${number}` }, bodyOf(number));
      await journal.flush();
      channel.reject(channel.get('dying')!.deliveryTag, false);
      await journal.flush();
    }
    expect(new Set(harness.forgotten).size).toBeGreaterThan(30);
    channel.deleteQueue('q');
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    await journal.flush();
    expect(journal.stats).toMatchObject({ entries: 0, messages: 0 });
    // Numbers that were freed are used again, once each.
    await fill(harness, 100, 'next', new Map());
    expect(idsIn(harness.queue('next'))).toEqual(range(0, 100));
    expect(journal.stats).toMatchObject({ entries: 100, messages: 100 });
    const again = await open(harness.disk.copy(), { hints: 'check' });
    expect(idsIn(again.queue('next'))).toEqual(range(0, 100));
  });

  it('go with their queue without the bodies that other queues still need', async () => {
    const harness = await open();
    const { channel, journal, queue } = harness;
    channel.declareExchange('all', { type: 'fanout', durable: true });
    const toOther = [
      ['x-dead-letter-exchange', longstr('')],
      ['x-dead-letter-routing-key', longstr('q')],
    ] as const;
    channel.declareQueue('q', { durable: true });
    channel.declareQueue('passing');
    channel.declareQueue('dying', { durable: true, arguments: new Map(toOther) });
    for (const name of ['q', 'passing', 'dying']) channel.bindQueue(name, 'all', '');
    for (let number = 0; number < 30; number++) {
      channel.publish(number === 0 ? 'all' : '', 'q', { deliveryMode: 2, messageId: `m${number}` }, bodyOf(number));
      await journal.flush();
      // The first one stands in front of the queue. Its dead letter, which has its body, comes to the middle.
      if (number === 10) channel.reject(channel.get('dying')!.deliveryTag, false);
    }
    expect(idsIn(queue('q'))).toHaveLength(31);
    channel.deleteQueue('q');
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    await journal.flush();
    expect(journal.stats).toMatchObject({ entries: 0, messages: 0 });
    expect(idsIn(queue('passing'))).toEqual(['m0']);
  });

  it('are made while a redrive shares the body of one of them', async () => {
    const harness = await open();
    const { broker, channel, journal, queue } = harness;
    channel.declareExchange('both', { type: 'fanout', durable: true });
    for (const name of ['q', 'source']) {
      channel.declareQueue(name, { durable: true });
      channel.bindQueue(name, 'both', '');
    }
    const all: string[] = [];
    for (let number = 0; number < 60; number++) {
      channel.publish('both', '', { deliveryMode: 2, messageId: `m${number}` }, bodyOf(number));
      await journal.flush();
      // The newest ones are in both queues as entries. Then one of them goes to the queue that has it already.
      if (number % 3 !== 2) continue;
      const newest: Entry[] = [];
      queue('source').peek((entry) => void newest.push(entry));
      for (const entry of newest.slice(-3)) {
        expect(
          broker
            .virtualHost('/')
            .redrive(queue('source'), entry, { exchange: '', routingKey: 'q', headers: undefined }),
        ).toMatchObject({
          outcome: 'moved',
        });
      }
    }
    for (const id of range(0, 60)) all.push(id, id);
    expect(idsIn(queue('q')).sort()).toEqual(all.sort());
    await journal.flush();
    expect(idsIn((await open(harness.disk.copy())).queue('q')).sort()).toEqual(all);
  });

  it('leave their bodies to others that have the same message, until the log is closed', async () => {
    const disk = new FakeDisk();
    const files: DiskFile[] = [];
    const openFile = disk.open.bind(disk);
    disk.open = async (name, how) => {
      const file = await openFile(name, how);
      files.push(file);
      return file;
    };
    const harness = await open(disk, { slack: 0, factor: 1.2 });
    const { channel, journal, queue } = harness;
    channel.declareExchange('both', { type: 'fanout', durable: true });
    channel.declareQueue('passing');
    channel.declareQueue('q', { durable: true });
    for (const name of ['passing', 'q']) channel.bindQueue(name, 'both', '');
    for (let number = 0; number < 300; number++) {
      channel.publish('both', '', { deliveryMode: 2, messageId: `m${number}` }, bodyOf(number));
      await journal.flush();
    }
    expect(new Set(harness.forgotten).size).toBeGreaterThan(250);
    for (let number = 0; number < 300; number++) channel.ack(channel.get('q')!.deliveryTag);
    for (let turn = 0; turn < 20; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      await journal.flush();
    }
    expect(harness.disk.files().has(segmentName(1))).toBe(false);
    expect(idsIn(queue('passing'))).toEqual(range(0, 300));
    await journal.close();
    for (const file of files) expect(() => file.sizeSync()).toThrow('bad file descriptor');
  });

  it('go with their queue, and with a purge', async () => {
    for (const how of ['delete', 'purge'] as const) {
      const harness = await open();
      await fill(harness, 100);
      if (how === 'delete') harness.channel.deleteQueue('q');
      else harness.channel.purgeQueue('q');
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      await harness.journal.flush();
      expect(harness.journal.stats).toMatchObject({ entries: 0, messages: 0, liveBytes: 0 });
      await fill(harness, 30, 'other');
      expect(idsIn(harness.queue('other'))).toEqual(range(0, 30));
      const again = await open(harness.disk.copy());
      expect(idsIn(again.queue('other'))).toEqual(range(0, 30));
    }
  });

  it('are none while the batch of a message is not durable, and of messages in several queues', async () => {
    const harness = await open();
    harness.channel.declareExchange('fan', { type: 'fanout', durable: true });
    for (const name of ['one', 'two']) {
      harness.channel.declareQueue(name, { durable: true });
      harness.channel.bindQueue(name, 'fan', '');
    }
    for (let number = 0; number < 50; number++)
      harness.channel.publish('', 'one', { deliveryMode: 2, messageId: `m${number}` }, bodyOf(number));
    expect(harness.forgotten).toEqual([]);
    await harness.journal.flush();
    harness.channel.purgeQueue('one');
    for (let number = 0; number < 50; number++) {
      harness.channel.publish('fan', '', { deliveryMode: 2, messageId: `m${number}` }, bodyOf(number));
      await harness.journal.flush();
    }
    expect(harness.forgotten).toEqual([]);
    for (const name of ['one', 'two']) expect(idsIn(harness.queue(name))).toEqual(range(0, 50));
  });

  it('are none of messages whose bodies are in memory: these are delivered without the disk', async () => {
    const harness = await open(new FakeDisk(), { memory: 1_000_000 });
    await fill(harness, 60);
    expect(harness.forgotten).toEqual([]);
    expect(idsIn(harness.queue('q'))).toEqual(range(0, 60));
  });

  it('keep the shortened life of a message after the clock was set back', async () => {
    const harness = await open();
    await fill(harness, 40, 'q', new Map([['x-message-ttl', int32(1_000)]]) as never);
    await harness.journal.close();
    const past = new ManualClock(harness.clock.now() - 1_000_000);
    const back = await open(harness.disk, { slack: 0, factor: 1.2 }, past);
    // What comes and goes makes the log longer than its live records: the oldest segments are copied.
    for (let turn = 0; turn < 60; turn++) {
      back.channel.publish('', 'dead', { deliveryMode: 2 }, bodyOf(turn));
      await back.journal.flush();
      back.channel.ack(back.channel.get('dead')!.deliveryTag);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(back.disk.files().has(segmentName(1))).toBe(false);
    await back.journal.close();
    const again = await open(back.disk, {}, new ManualClock(past.now() + 500));
    again.clock.advance(501);
    expect(again.queue('q').length).toBe(0);
  });
});

describe('bodies on disk', () => {
  it.each([1, 2, 8])('of %d queues that are drained in turn are read once, many with each read', async (queues) => {
    const harness = await open(new FakeDisk(), { segment: 1_000_000 });
    const names = Array.from({ length: queues }, (_, index) => `q${index}`);
    for (const name of names) await fill(harness, 400, name, new Map());
    const { counts } = harness.disk;
    const before = counts.read;
    for (let number = 0; number < 400; number++) {
      for (const name of names) {
        const got = harness.channel.get(name)!;
        expect(Buffer.from(got.body).equals(bodyOf(number))).toBe(true);
        harness.channel.ack(got.deliveryTag);
      }
    }
    // Each has 230 KB, perhaps in two segments, and a read takes 256 KB from where it begins.
    expect(counts.read - before).toBeLessThanOrEqual(3 * queues);
  });
});
