import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { atLeastOnceTo } from '../../../../../test/durability/at-least-once.js';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { Broker, type Channel, type Pace, type Queue } from '../../engine/broker/index.js';
import { int32, longstr, type Properties } from '../../engine/message/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { DiskJournal } from './disk-journal.js';
import type { DiskJournalOptions } from './options.js';
import { formatVersion, segmentName, writeHeader } from './segment-header.js';

const persistent: Properties = { deliveryMode: 2 };
const toDead = new Map([
  ['x-dead-letter-exchange', longstr('')],
  ['x-dead-letter-routing-key', longstr('dead')],
]);
const patterns = { compile: () => ({ matches: () => true }) };

async function open(on = new FakeDisk(), options: DiskJournalOptions = {}, clock = new ManualClock(), pace?: Pace) {
  on.isManual = false;
  const journal = await DiskJournal.open(on, { now: () => clock.now(), diskFree: 0, ...options });
  const broker = new Broker({ clock, journal, names: new CountedNames(), patterns, ...(pace && { pace }) });
  journal.restore(broker);
  const client = listen(broker);
  const declare = (name: string, args = new Map()): void =>
    void client.channel.declareQueue(name, { durable: true, arguments: args });
  const again = async (more: DiskJournalOptions = {}, later = clock) => {
    await journal.flush();
    return open(on.copy(), { ...options, ...more }, later);
  };
  return { ...client, broker, clock, journal, disk: on, declare, again };
}

const bodyOf = (number: number, size = 1_000): Buffer => Buffer.alloc(size, `message ${number}, `);
const put = (channel: Channel, queue: string, number: number, size?: number): void =>
  void channel.publish('', queue, persistent, bodyOf(number, size));
const queueOf = (broker: Broker, name: string): Queue => broker.virtualHost('/').queues.get(name) as Queue;

function numbersIn(broker: Broker, name: string): number[] {
  const numbers: number[] = [];
  queueOf(broker, name).peek(({ message }) => {
    const number = Number(/^message (\d+),/.exec(Buffer.from(message.body).toString())?.[1]);
    expect(Buffer.from(message.body).equals(bodyOf(number, message.size))).toBe(true);
    numbers.push(number);
  });
  return numbers;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

describe('bodies', () => {
  it('beyond the memory they may have are read back when they leave', async () => {
    const { channel, declare, journal, broker, again } = await open(new FakeDisk(), {
      memory: 20_000,
      segment: 30_000,
    });
    declare('q');
    for (const number of range(0, 200)) put(channel, 'q', number);
    await journal.flush();
    expect(journal.stats.memory).toBeLessThanOrEqual(20_000);
    expect(numbersIn(broker, 'q')).toEqual(range(0, 200));
    const reborn = await again();
    expect(reborn.journal.stats.memory).toBe(0);
    expect(numbersIn(reborn.broker, 'q')).toEqual(range(0, 200));
  });

  it('leave the memory with their message, also if it is delivered while its batch is being written', async () => {
    const disk = new FakeDisk();
    const { channel, declare, journal } = await open(disk);
    declare('q');
    await journal.flush();
    const before = journal.stats.memory;
    disk.isManual = true;
    for (const number of range(0, 20)) {
      put(channel, 'q', number);
      const durable = journal.flush();
      while (disk.waiting === 0) await setImmediate();
      const { deliveryTag } = channel.get('q')!;
      for (let isDurable = false; !isDurable; await setImmediate()) {
        disk.advance();
        isDurable = await Promise.race([durable.then(() => true), setImmediate(false)]);
      }
      channel.ack(deliveryTag);
    }
    disk.isManual = false;
    while (disk.waiting > 0) disk.advance();
    await journal.flush();
    expect(journal.stats).toMatchObject({ entries: 0, messages: 0, memory: before });
  });

  it('are stored once, in however many queues they are and however often they die', async () => {
    const { channel, declare, journal, again } = await open();
    for (const name of ['dead', 'b', 'c']) declare(name);
    declare('a', toDead);
    channel.declareExchange('fan', { type: 'fanout', durable: true });
    for (const name of ['a', 'b', 'c']) channel.bindQueue(name, 'fan', '');
    await journal.flush();
    const before = journal.stats.bytes;
    channel.publish('fan', '', persistent, bodyOf(1, 10_000));
    await journal.flush();
    channel.reject(channel.get('a')!.deliveryTag, false);
    await journal.flush();
    expect(journal.stats.bytes - before).toBeLessThan(11_000);
    const { broker } = await again();
    for (const name of ['dead', 'b', 'c']) expect(numbersIn(broker, name)).toEqual([1]);
  });

  it('of a message that a full queue refuses and dead-letters reach the next queue, also in a later turn', async () => {
    const pace: Pace = { budget: 1, later: (resume) => void setImmediate().then(resume) };
    const options = { memory: 0, segment: 10_000 };
    const { channel, declare, journal, broker, again } = await open(new FakeDisk(), options, undefined, pace);
    const full = { 'x-dead-letter-exchange': longstr(''), 'x-dead-letter-routing-key': longstr('last') };
    declare('last');
    declare('other');
    const limits = { 'x-max-length': int32(1), 'x-overflow': longstr('reject-publish-dlx') };
    declare('full', new Map(Object.entries({ ...full, ...limits })));
    const toFull = { ...full, 'x-dead-letter-routing-key': longstr('full'), 'x-max-length': int32(1) };
    declare('q', new Map(Object.entries(toFull)));
    put(channel, 'full', 0);
    put(channel, 'q', 1);
    await journal.flush();
    // The body of the first message leaves the memory.
    put(channel, 'other', 2);
    await journal.flush();
    put(channel, 'q', 3);
    for (let turn = 0; turn < 10; turn++) await setImmediate();
    await journal.flush();
    expect(journal.hasFailed).toBe(false);
    for (const harness of [{ broker }, await again()])
      expect(['full', 'q', 'last'].map((name) => numbersIn(harness.broker, name))).toEqual([[0], [3], [1]]);
  });

  it('that went bad on the disk are not delivered; the rest is', async () => {
    const { channel, declare, journal, broker, disk: on } = await open(new FakeDisk(), { memory: 0 });
    declare('q');
    for (const number of [1, 2, 3]) put(channel, 'q', number);
    await journal.flush();
    const file = await on.open(segmentName(1), 'write');
    const at = on.files().get(segmentName(1))!.indexOf('message 2');
    await file.write([Buffer.from('XXX')], at);
    expect([1, 2].map(() => Buffer.from(channel.get('q')!.message.body.subarray(0, 9)).toString())).toEqual([
      'message 1',
      'message 3',
    ]);
    expect(channel.get('q')).toBeUndefined();
    expect(queueOf(broker, 'q').length).toBe(0);
  });
});

describe('the log', () => {
  it('never has a message that came and went between two batches', async () => {
    const { channel, declare, journal } = await open();
    declare('q');
    await journal.flush();
    const before = journal.stats.bytes;
    for (const number of range(0, 100)) {
      put(channel, 'q', number);
      channel.ack(channel.get('q')!.deliveryTag);
    }
    await journal.flush();
    expect(journal.stats).toMatchObject({ bytes: before, entries: 0, messages: 0 });
  });

  it('frees what is no longer needed, and one message that stays keeps nothing else', async () => {
    const on = new FakeDisk();
    const { channel, declare, journal, again } = await open(on, { segment: 20_000, slack: 60_000, memory: 5_000 });
    declare('parked');
    declare('q');
    put(channel, 'parked', 0);
    for (const number of range(1, 600)) {
      put(channel, 'q', number);
      await journal.flush();
      channel.ack(channel.get('q')!.deliveryTag);
      await journal.flush();
    }
    expect(journal.stats).toMatchObject({ entries: 1, messages: 1 });
    expect(on.used).toBeLessThan(150_000);
    expect(on.files().has(segmentName(1))).toBe(false);
    const { broker } = await again();
    expect(numbersIn(broker, 'parked')).toEqual([0]);
    expect(numbersIn(broker, 'q')).toEqual([]);
  });

  it('is the same after many deaths, moves and restarts', async () => {
    let harness = await open(new FakeDisk(), { segment: 8_000, slack: 30_000, memory: 3_000 });
    harness.declare('dead');
    harness.declare('q', new Map([...toDead, ['x-max-length', int32(20)]]));
    for (const round of range(0, 12)) {
      for (const number of range(round * 30, round * 30 + 30)) {
        put(harness.channel, 'q', number);
        if (number % 7 === 0) await harness.journal.flush();
      }
      const last = (round + 1) * 30;
      expect(numbersIn(harness.broker, 'q')).toEqual(range(last - 20, last));
      expect(numbersIn(harness.broker, 'dead')).toEqual(range(Math.max(0, last - 60), last - 20));
      for (let got = 0; got < 30 && queueOf(harness.broker, 'dead').length > 40 - 30; got++) {
        harness.channel.ack(harness.channel.get('dead')!.deliveryTag);
      }
      harness = await harness.again();
    }
  });

  it('finds at-least-once dead letters wherever compaction moves them, and none by the number of another', async () => {
    const harness = await open(new FakeDisk(), { segment: 4_000, slack: 8_000 });
    harness.channel.declareExchange('dlx', { type: 'fanout', durable: true });
    for (const name of ['dead', 'passing']) harness.declare(name);
    harness.declare('work', atLeastOnceTo('dlx'));
    put(harness.channel, 'work', 0);
    harness.channel.get('work');
    harness.channel.reject(1, false);
    for (const number of range(1, 60)) {
      put(harness.channel, 'passing', number);
      await harness.journal.flush();
      harness.channel.get('passing', { noAck: true });
    }
    const second = await harness.again();
    expect(second.disk.files().has(segmentName(1))).toBe(false);
    expect([queueOf(second.broker, 'work').retained, numbersIn(second.broker, 'work')]).toEqual([1, []]);
    second.channel.bindQueue('dead', 'dlx', '');
    const third = await second.again();
    expect([queueOf(third.broker, 'work').retained, numbersIn(third.broker, 'dead')]).toEqual([0, [0]]);
    const fourth = await third.again();
    put(fourth.channel, 'work', 100);
    const fifth = await fourth.again();
    expect([numbersIn(fifth.broker, 'work'), numbersIn(fifth.broker, 'dead')]).toEqual([[100], [0]]);
  });

  it('lets nothing live longer than it could when the clock was set back', async () => {
    const harness = await open();
    harness.declare('q', new Map([['x-message-ttl', int32(1_000)]]));
    put(harness.channel, 'q', 1);
    await harness.journal.flush();
    const past = new ManualClock(harness.clock.now() - 1_000_000);
    const { broker } = await harness.again({}, past);
    past.advance(999);
    expect(numbersIn(broker, 'q')).toEqual([1]);
    past.advance(1);
    expect(numbersIn(broker, 'q')).toEqual([]);
  });
});

describe('damage', () => {
  async function furnished() {
    const harness = await open(new FakeDisk(), { segment: 10_000 });
    for (const name of ['a', 'b']) harness.declare(name);
    for (const number of range(0, 40)) {
      put(harness.channel, number % 2 === 0 ? 'a' : 'b', number);
      await harness.journal.flush();
    }
    await harness.journal.close();
    return harness;
  }

  it('of a message is reported by its queue when its segment is read; all others are served', async () => {
    const harness = await furnished();
    const bytes = harness.disk.files().get(segmentName(2))!;
    const at = bytes.indexOf('message 11,');
    expect(at).toBeGreaterThan(0);
    bytes.write('garbled', at + 100);
    harness.disk.put(segmentName(2), bytes);
    const { broker, journal, disk: found } = await open(harness.disk, { hints: 'check' });
    expect(journal.damage.queues).toEqual([{ vhost: '/', queue: 'b', lost: 1 }]);
    expect(journal.damage.places).toMatchObject([{ file: segmentName(2), copy: `${segmentName(2)}.bad` }]);
    expect(
      found
        .files()
        .get(`${segmentName(2)}.bad`)
        ?.equals(bytes),
    ).toBe(true);
    expect(numbersIn(broker, 'a')).toEqual(range(0, 20).map((half) => half * 2));
    expect(numbersIn(broker, 'b')).toEqual(
      range(0, 20)
        .map((half) => half * 2 + 1)
        .filter((number) => number !== 11),
    );
  });

  it('of what is declared costs nothing when it is written again elsewhere', async () => {
    const harness = await furnished();
    const bytes = harness.disk.files().get(segmentName(2))!;
    bytes.fill('?', 512, 700);
    harness.disk.put(segmentName(2), bytes);
    const { broker, journal } = await open(harness.disk, { hints: 'check' });
    expect(journal.damage).toMatchObject({ queues: [], misplaced: 0 });
    expect(journal.damage.places).toHaveLength(1);
    expect([...numbersIn(broker, 'a'), ...numbersIn(broker, 'b')].length).toBe(40);
  });

  it('of the first header of a segment costs nothing, for there is a second', async () => {
    const harness = await furnished();
    const bytes = harness.disk.files().get(segmentName(1))!;
    bytes.fill('?', 0, 64);
    harness.disk.put(segmentName(1), bytes);
    const { broker } = await open(harness.disk);
    expect([...numbersIn(broker, 'a'), ...numbersIn(broker, 'b')].length).toBe(40);
  });
});

describe('a directory is refused, and left as it is,', () => {
  it.each([
    ['newer-format', () => newer()],
    ['foreign-file', () => Buffer.from('a letter to a friend'.repeat(100))],
    ['foreign-file', () => writeHeader({ number: 7, salt: 1, version: formatVersion })],
  ])('as %s', async (code, bytes) => {
    const harness = await open();
    harness.declare('q');
    await harness.journal.close();
    harness.disk.put(segmentName(2), bytes());
    const seen = (): string[] =>
      [...harness.disk.files()].map(([name, found]) => `${name} ${found.toString('latin1')}`);
    const before = seen();
    await expect(DiskJournal.open(harness.disk)).rejects.toMatchObject({ name: 'StoreError', code });
    expect(seen()).toEqual(before);
  });
});

/** A segment whose version this program does not know. */
function newer(): Buffer {
  const bytes = writeHeader({ number: 2, salt: 1, version: formatVersion + 1 });
  return Buffer.concat([bytes, Buffer.from('whatever that means')]);
}

describe('a queue that goes with very many messages', () => {
  const many = 20_000;

  it('is removed from the log at once, and from memory in turns; a crash meanwhile restores nothing of it (rule A8)', async () => {
    const harness = await open(new FakeDisk(), { segment: 200_000, memory: 0 });
    const { channel, declare, journal, disk } = harness;
    for (const name of ['q', 'stays']) declare(name);
    for (const number of range(0, many)) {
      put(channel, 'q', number, 20);
      if (number % 2_000 === 0) await journal.flush();
    }
    put(channel, 'stays', 0, 20);
    await journal.flush();
    const { segments } = journal.stats;
    expect(segments).toBeGreaterThan(3);
    channel.deleteQueue('q');
    declare('q');
    put(channel, 'q', 7, 20);
    let most = 0;
    let before = many + 2;
    const crashes: FakeDisk[] = [];
    for (let turns = 0; journal.stats.entries > 2 && turns < 100; turns++) {
      most = Math.max(most, before - journal.stats.entries);
      before = journal.stats.entries;
      crashes.push(disk.copy());
      await setImmediate();
    }
    expect(journal.stats.entries).toBe(2);
    expect(crashes.length).toBeGreaterThanOrEqual(4);
    expect(most).toBeLessThanOrEqual(4_100);
    for (const crashed of crashes.slice(1)) {
      const after = await open(crashed, { segment: 200_000 });
      expect(after.journal.damage).toMatchObject({ queues: [], misplaced: 0 });
      const left = queueOf(after.broker, 'q').length;
      expect([0, 1, many]).toContain(left); // many before the batch with its end was written
      expect(numbersIn(after.broker, 'stays')).toEqual([0]);
      await after.journal.close();
    }
    await journal.flush();
    expect(journal.stats.segments).toBeLessThan(segments - 2); // those that are free have gone with a batch
    const after = await harness.again();
    expect([numbersIn(after.broker, 'q'), numbersIn(after.broker, 'stays')]).toEqual([[7], [0]]);
    expect(after.journal.damage).toMatchObject({ queues: [], misplaced: 0 });
  });

  it('leaves nothing that compaction takes along, or a later batch writes', async () => {
    const harness = await open(new FakeDisk(), { segment: 100_000, slack: 0, memory: 0 });
    const { channel, declare, journal, disk } = harness;
    for (const name of ['q', 'stays', 'new']) declare(name);
    for (const number of range(0, many)) {
      put(channel, number % 50 === 0 ? 'stays' : 'q', number, 20);
      if (number % 2_000 === 0) await journal.flush();
    }
    await journal.flush();
    for (const number of range(0, many / 4)) put(channel, 'q', number, 20); // the log does not know of these
    channel.deleteQueue('q');
    for (let turn = 0; turn < 40; turn++) {
      put(channel, 'new', turn, 20);
      await setImmediate();
      if (turn % 8 !== 2) continue;
      const after = await open(disk.copy(), { segment: 100_000 });
      expect(after.journal.damage).toMatchObject({ queues: [], misplaced: 0 });
      expect(queueOf(after.broker, 'stays').length).toBe(many / 50);
      await after.journal.close();
    }
    await journal.flush();
    expect(journal.stats.entries).toBe(many / 50 + 40);
    const after = await harness.again();
    expect(numbersIn(after.broker, 'new')).toEqual(range(0, 40));
  });
});
