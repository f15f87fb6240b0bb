import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type BackendDelivery, EmbeddedBackend } from '../../libs/dlx-broker/src/backends/index.js';
import {
  AmqpError,
  Broker,
  type Channel,
  type Delivery,
  type Pace,
  silentOutbox,
} from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type Field, int32, longstr, messageOf } from '../../libs/dlx-broker/src/engine/message/index.js';
import { redrive } from '../../libs/dlx-broker/src/nest/retry/index.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import type { StoreError } from '../../libs/dlx-broker/src/store/log/faults.js';
import { listen } from '../harnesses/listener.js';
import { atLeastOnceTo } from './at-least-once.js';
import { bodyOf, messageIdOf } from './bodies.js';
import { FakeDisk } from './fake-disk.js';
import { systemError } from './fake-file.js';
import { lent } from './harness.js';

const fault = systemError('EIO', 'i/o error, read');
const size = 30_000;
const small = 1_000;

interface Harness {
  readonly disk: FakeDisk;
  readonly clock: ManualClock;
  readonly broker: Broker;
  readonly journal: DiskJournal;
  readonly told: StoreError[];
  readonly failed: StoreError[];
}

async function harness(disk: FakeDisk, pace?: Pace): Promise<Harness> {
  disk.isManual = false;
  const clock = new ManualClock();
  const told: StoreError[] = [];
  const failed: StoreError[] = [];
  const journal = await DiskJournal.open(disk, {
    memory: 0,
    diskFree: 0,
    now: () => clock.now(),
    damaged: (error) => void told.push(error),
    failed: (error) => void failed.push(error),
  });
  const broker = new Broker({ ...lent(clock), journal, ...(pace && { pace }) });
  journal.restore(broker);
  return { disk, clock, broker, journal, told, failed };
}

const args = (...fields: (readonly [string, Field])[]) => new Map(fields);

/** So many in a durable queue, all of them on disk only but perhaps the newest. */
async function filled(count: number, queue: Map<string, Field> = new Map(), length = small): Promise<Harness> {
  const found = await harness(new FakeDisk());
  const { channel } = listen(found.broker);
  channel.declareQueue('work', { durable: true, arguments: queue });
  publish(channel, count, length);
  await found.journal.flush();
  return found;
}

function publish(channel: Channel, count: number, length = small, key = 'work'): void {
  for (let number = 1; number <= count; number++) {
    const messageId = messageIdOf(number, length);
    channel.publish('', key, { messageId, deliveryMode: 2 }, bodyOf(messageId));
  }
}

const queueOf = ({ broker }: Harness, name = 'work') => broker.virtualHost('/').queues.get(name)!;

/** Ids and whole bodies, as they left. */
const arrived = (deliveries: readonly Delivery[], bodies: readonly Buffer[]): readonly string[] =>
  deliveries.map(({ message: { properties } }, index) => {
    expect(bodies[index]?.equals(bodyOf(properties.messageId as string))).toBe(true);
    return properties.messageId as string;
  });

/** Consumes, and keeps bodies as they were when they left. */
function consume({ broker }: Harness, queue = 'work', options: { noAck?: boolean } = {}) {
  const deliveries: Delivery[] = [];
  const bodies: Buffer[] = [];
  const channel: Channel = broker.connect().openChannel({
    ...silentOutbox,
    deliver: (delivery) => {
      deliveries.push(delivery);
      bodies.push(Buffer.from(delivery.body));
    },
  });
  channel.consume(queue, options);
  return { channel, deliveries, ids: () => arrived(deliveries, bodies) };
}

/** After a clean restart on a disk that answers. */
async function restarted(found: Harness): Promise<Harness> {
  found.disk.readError = undefined;
  await found.journal.close();
  return harness(found.disk.copy());
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(20);
}

const ids = (count: number, length = small): readonly string[] =>
  Array.from({ length: count }, (_, index) => messageIdOf(index + 1, length));

describe('a disk that cannot be read for a while', () => {
  it('pauses the queue, loses nothing, and goes on by the clock', async () => {
    const found = await filled(20);
    found.disk.readError = fault;
    const consumer = consume(found);
    const stood = queueOf(found);
    expect(stood.length).toBe(20);
    expect(consumer.deliveries).toEqual([]);
    expect(stood.stalled).toMatchObject({ failures: 1 });
    expect(stood.stalled?.reason).toMatch(/0000000001\.log cannot be read now: EIO/);
    const { read } = found.disk.counts;
    for (let command = 0; command < 100; command++)
      listen(found.broker).channel.declareQueue('work', { passive: true });
    expect(found.disk.counts.read, 'no command reads again before it is time').toBe(read);
    found.clock.advance(1_500);
    expect(stood.stalled?.failures).toBe(4 + 1);
    found.disk.readError = undefined;
    found.clock.advance(1_600);
    expect(consumer.ids()).toEqual(ids(20));
    expect(stood.stalled).toBeUndefined();
    expect(found.broker.stalls.count).toBe(0);
    expect(consumer.deliveries.every(({ redelivered }) => !redelivered)).toBe(true);
    consumer.channel.ack(0, true);
    expect(queueOf(await restarted(found)).length).toBe(0);
  });

  it('keeps everything over a clean restart in the middle', async () => {
    const found = await filled(50);
    found.disk.readError = fault;
    const { channel } = listen(found.broker);
    channel.consume('work');
    found.clock.advance(700);
    const again = await restarted(found);
    expect(again.journal.damage).toMatchObject({ queues: [], places: [] });
    expect(consume(again).ids()).toEqual(ids(50));
  });

  it('lets other queues go on, and what is in memory leave a stalled one only in its turn', async () => {
    const found = await filled(3);
    const { channel } = listen(found.broker);
    channel.declareQueue('other', { durable: true });
    found.disk.readError = fault;
    const stalled = consume(found);
    const other = consume(found, 'other');
    publish(channel, 2, small, 'other');
    publish(channel, 1);
    expect(other.ids()).toEqual(ids(2));
    expect(stalled.deliveries).toEqual([]);
    expect(queueOf(found).length).toBe(4);
    expect([...found.broker.stalls].map(({ queue }) => queue.name)).toEqual(['work']);
  });

  it('is reported once when it begins and once when it is over', async () => {
    const found = await filled(2);
    const said: string[] = [];
    found.broker.stalls.changed = ({ queue }, isOver) => void said.push(`${queue.name} ${isOver}`);
    found.disk.readError = fault;
    consume(found);
    found.clock.advance(20_000);
    found.disk.readError = undefined;
    found.clock.advance(5_000);
    expect(said).toEqual(['work false', 'work true']);
  });

  it('answers basic.get with 541 and its reason, and the message stays', async () => {
    const found = await filled(2);
    found.disk.readError = fault;
    const { channel } = listen(found.broker);
    let error: AmqpError | undefined;
    try {
      channel.get('work', { noAck: true });
    } catch (thrown) {
      error = thrown as AmqpError;
    }
    expect(error).toMatchObject({ code: 541, closes: 'channel' });
    expect(error?.message).toMatch(
      /Cannot get a message from queue 'work' in vhost '\/': .*EIO.*It stays in its queue/,
    );
    expect(queueOf(found).length).toBe(2);
    found.disk.readError = undefined;
    found.clock.advance(100);
    expect(queueOf(found).stalled, 'tried again although nobody consumes').toBeUndefined();
    const got = listen(found.broker).channel.get('work', { noAck: true });
    expect(bodyOf(messageIdOf(1, small)).equals(got?.body as Buffer)).toBe(true);
  });

  it('does not matter to a body that has been handed out and not left', async () => {
    for (const type of ['classic', 'quorum']) {
      const filling = await filled(4, args(['x-queue-type', longstr(type)]), size);
      await filling.journal.close();
      // All four are handed out, and hardly one has left: then the host has its turn.
      const resumes: (() => void)[] = [];
      const found = await harness(filling.disk.copy(), { budget: 5, later: (resume) => void resumes.push(resume) });
      for (let resume = resumes.shift(); resume !== undefined; resume = resumes.shift()) resume();
      const consumer = consume(found, 'work', { noAck: true });
      expect(consumer.deliveries.length, 'most of them are on their way').toBeLessThan(2);
      expect(queueOf(found).length, 'none is in the queue any more').toBe(0);
      found.disk.readError = fault;
      const { read } = found.disk.counts;
      for (let resume = resumes.shift(); resume !== undefined; resume = resumes.shift()) resume();
      expect(consumer.ids()).toEqual(ids(4, size));
      expect(found.disk.counts.read).toBe(read);
    }
  });

  it('dies of a limit, of its time or by a rejection with its body on disk, which comes along', async () => {
    const dead = args(['x-dead-letter-exchange', longstr('')], ['x-dead-letter-routing-key', longstr('dead')]);
    const found = await filled(5, new Map([...dead, ['x-max-length', int32(5)], ['x-message-ttl', int32(60_000)]]));
    const { channel } = listen(found.broker);
    channel.declareQueue('dead', { durable: true });
    const taken = consume(found);
    channel.declareQueue('dead', { durable: true });
    taken.channel.close();
    const holder = listen(found.broker).channel;
    holder.get('work');
    found.disk.readError = fault;
    holder.reject(1, false); // rejected, out of a client's hands
    publish(channel, 2); // and one dies of the limit
    found.clock.advance(60_000); // and the rest of its time
    expect(queueOf(found).length).toBe(0);
    expect(queueOf(found, 'dead').length).toBe(7);
    found.disk.readError = undefined;
    const again = await restarted(found);
    expect(again.journal.damage).toMatchObject({ queues: [] });
    const { deliveries } = consume(again, 'dead');
    expect(deliveries.map(({ message }) => message.properties.messageId).sort()).toEqual([...ids(5), ...ids(2)].sort());
  });

  it('keeps a dead letter whose next queue has a consumer waiting, or refuses it', async () => {
    const toNext = args(
      ['x-dead-letter-exchange', longstr('')],
      ['x-dead-letter-routing-key', longstr('next')],
      ['x-message-ttl', int32(1_000)],
    );
    const found = await filled(3, toNext);
    const { channel } = listen(found.broker);
    channel.declareQueue('next', { durable: true });
    const waiting = consume(found, 'next');
    found.disk.readError = fault;
    found.clock.advance(1_000);
    expect(queueOf(found).length).toBe(0);
    expect(queueOf(found, 'next').length).toBe(3);
    found.disk.readError = undefined;
    found.clock.advance(5_000);
    expect(waiting.ids()).toEqual(ids(3));

    const full = await filled(3, toNext);
    const declare = listen(full.broker).channel;
    const refusing = new Map([
      ['x-max-length', int32(0)],
      ['x-overflow', longstr('reject-publish-dlx')],
      ['x-dead-letter-exchange', longstr('')],
      ['x-dead-letter-routing-key', longstr('last')],
    ] as const);
    declare.declareQueue('next', { arguments: refusing }); // not kept
    declare.declareQueue('last', { durable: true });
    full.disk.readError = fault;
    full.clock.advance(1_000);
    expect(queueOf(full, 'last').length).toBe(3);
    full.disk.readError = undefined;
    await full.journal.flush();
    const again = await restarted(full);
    expect(consume(again, 'last').ids()).toEqual(ids(3));
  });

  it('rule M3: keeps an at-least-once dead letter until its target has it', async () => {
    const found = await filled(2, atLeastOnceTo('dlx'));
    const { channel } = listen(found.broker);
    const holder = listen(found.broker).channel;
    holder.get('work');
    holder.get('work');
    found.disk.readError = fault;
    holder.reject(1, false);
    holder.reject(2, false);
    channel.declareExchange('dlx', { type: 'fanout', durable: true });
    channel.declareQueue('dead', { durable: true });
    channel.bindQueue('dead', 'dlx', '');
    found.clock.advance(180_000);
    expect(queueOf(found, 'dead').length).toBe(2);
    expect(consume(await restarted(found), 'dead').ids()).toEqual(ids(2));
  });

  it('keeps a body that several queues share for each of them', async () => {
    const found = await harness(new FakeDisk());
    const { channel } = listen(found.broker);
    channel.declareExchange('all', { type: 'fanout', durable: true });
    for (const queue of ['one', 'two', 'three']) {
      channel.declareQueue(queue, { durable: true });
      channel.bindQueue(queue, 'all', '');
    }
    for (const messageId of ids(4)) channel.publish('all', '', { messageId, deliveryMode: 2 }, bodyOf(messageId));
    await found.journal.flush();
    const first = consume(found, 'one');
    first.channel.ack(0, true);
    found.disk.readError = fault;
    const second = consume(found, 'two');
    expect(queueOf(found, 'two').length + second.deliveries.length).toBe(4);
    const again = await restarted(found);
    expect(queueOf(again, 'one').length).toBe(0);
    expect(consume(again, 'three').ids()).toEqual(ids(4));
    expect(consume(again, 'two').deliveries.length).toBe(4);
  });

  it('moves by a redrive without reading, and straight to a consumer only with its body', async () => {
    const found = await filled(3);
    const { channel } = listen(found.broker);
    channel.declareQueue('to', { durable: true });
    const waiting = consume(found, 'to');
    found.disk.readError = fault;
    const vhost = found.broker.virtualHost('/');
    for (const entry of queueOf(found).browse({ limit: 10 }).entries) {
      const to = { exchange: '', routingKey: 'to', headers: undefined };
      expect(vhost.redrive(queueOf(found), entry, to)).toMatchObject({ outcome: 'moved' });
    }
    expect(waiting.deliveries).toEqual([]);
    expect(queueOf(found, 'to').length).toBe(3);
    found.disk.readError = undefined;
    found.clock.advance(5_000);
    expect(waiting.ids()).toEqual(ids(3));
  });

  it('moves an edited message: a body that it keeps is not read, a new one is stored', async () => {
    const found = await filled(3);
    listen(found.broker).channel.declareQueue('to', { durable: true });
    found.disk.readError = fault;
    const vhost = found.broker.virtualHost('/');
    for (const [index, { message, position }] of queueOf(found).browse({ limit: 10 }).entries.entries()) {
      const messageId = messageIdOf(index + 11, small);
      const own = index === 1 ? { ...message.own, messageId } : { ...message.own, appId: 'edited' };
      const edited = messageOf('', '', own, index === 1 ? bodyOf(messageId) : message, undefined);
      const to = { exchange: '', routingKey: 'to', headers: undefined, edited };
      expect(vhost.redrive(queueOf(found), queueOf(found).find(position)!, to)).toMatchObject({ outcome: 'moved' });
    }
    await found.journal.flush();
    const again = await restarted(found);
    expect(queueOf(again).length).toBe(0);
    const { deliveries, ids: there } = consume(again, 'to');
    expect(there()).toEqual([ids(3)[0], messageIdOf(12, small), ids(3)[2]]);
    expect(deliveries.map(({ message }) => message.properties.appId)).toEqual(['edited', undefined, 'edited']);
    expect([found.failed, again.journal.damage.queues]).toEqual([[], []]);
  });

  it('takes only a read that comes short for a cut file when the file is short', async () => {
    const found = await filled(3);
    found.disk.longestRead = 100;
    const consumer = consume(found);
    expect(queueOf(found).stalled?.reason).toMatch(/the system gave \d+ of \d+ bytes/);
    expect(queueOf(found).length).toBe(3);
    found.disk.longestRead = Infinity;
    found.clock.advance(5_000);
    expect(consumer.ids()).toEqual(ids(3));
  });

  it('leaves a segment that is to be freed, drops nothing of it, and comes back to it', async () => {
    const disk = new FakeDisk();
    disk.isManual = false;
    const clock = new ManualClock();
    const [told, failed]: [StoreError[], StoreError[]] = [[], []];
    const journal = await DiskJournal.open(disk, {
      memory: 0,
      diskFree: 0,
      segment: 65_536,
      slack: 100_000,
      factor: 1.5,
      now: () => clock.now(),
      damaged: (error) => void told.push(error),
      failed: (error) => void failed.push(error),
    });
    const broker = new Broker({ ...lent(clock), journal });
    journal.restore(broker);
    const { channel } = listen(broker);
    channel.declareQueue('work', { durable: true });
    channel.declareQueue('passing', { durable: true });
    publish(channel, 20);
    await journal.flush();
    disk.readError = fault;
    for (let turn = 0; turn < 30; turn++) {
      publish(channel, 10, small, 'passing');
      await journal.flush();
      broker.virtualHost('/').queues.get('passing')?.purge();
      await journal.flush();
    }
    expect(failed).toEqual([]);
    expect(told.map(({ code, message }) => [code, /cannot be read now.*nothing is freed/.test(message)])).toEqual([
      ['unreadable', true],
    ]);
    const grown = journal.stats.bytes;
    expect(grown).toBeGreaterThan(300_000);
    disk.readError = undefined;
    await until(async () => {
      publish(channel, 1, small, 'passing');
      await journal.flush();
      return journal.stats.bytes < grown / 2;
    });
    await journal.close();
    const again = await harness(disk.copy());
    expect(again.journal.damage).toMatchObject({ places: [], queues: [] });
    expect(consume(again).ids()).toEqual(ids(20));
  });

  it('does not matter to a handler that looks at its message again, or sends it on', async () => {
    const found = await filled(5);
    const backend = new EmbeddedBackend(found.broker);
    const taken: BackendDelivery[] = [];
    backend.consume('work', { prefetch: 5 }, (delivery) => void taken.push(delivery));
    expect(taken).toHaveLength(5);
    found.disk.readError = fault;
    expect(taken.every(({ message }, index) => bodyOf(ids(5)[index]!).equals(message.body as Buffer))).toBe(true);
    listen(found.broker).channel.declareQueue('later', { durable: true });
    for (const delivery of taken) redrive(delivery, 0, 'later');
    await backend.close();
    expect(queueOf(found).length).toBe(0);
    const again = await restarted(found);
    expect(consume(again, 'later').ids()).toEqual(ids(5));
  });

  it('refuses the start instead of opening a log that seems cut', async () => {
    const found = await filled(10);
    await found.journal.close();
    const before = [...found.disk.files()];
    for (const [name, harm] of [
      ['EIO', (disk: FakeDisk) => (disk.readError = fault)],
      ['gave', (disk: FakeDisk) => (disk.longestRead = 4_000)],
    ] as const) {
      const disk = found.disk.copy();
      disk.isManual = false;
      harm(disk);
      if (name === 'gave') disk.readsOnce = true;
      await expect(DiskJournal.open(disk, {})).rejects.toMatchObject({
        code: 'disk-failed',
        message: expect.stringMatching(new RegExp(`${name}.*Nothing was changed`)),
      });
      expect([...disk.files()].map(([file, bytes], index) => [file, bytes.equals(before[index]![1])])).toEqual(
        before.map(([file]) => [file, true]),
      );
    }
  });
});

describe('a body that is proven lost', () => {
  /** Overwrites the body of each second message. */
  function harm(disk: FakeDisk, lost: readonly string[]): void {
    for (const [name, bytes] of disk.files()) {
      for (const id of lost) {
        const at = bytes.indexOf(bodyOf(id));
        if (at >= 0) disk.overwrite(name, at + 100, Buffer.alloc(64, 7));
      }
    }
  }

  it('takes its message along, is counted by its queue, and reported once', async () => {
    const found = await filled(6);
    harm(found.disk, [ids(6)[1]!, ids(6)[3]!]);
    const consumer = consume(found);
    expect(consumer.ids()).toEqual([ids(6)[0], ids(6)[2], ids(6)[4], ids(6)[5]]);
    expect(queueOf(found).counters.lost).toBe(2);
    expect(found.broker.counters.lost).toBe(2);
    expect(found.told).toHaveLength(1);
    expect(found.told[0]).toMatchObject({ code: 'damaged' });
    expect(queueOf(found).unacked).toBe(4);
    expect(found.failed).toEqual([]);
  });

  it('does not stop the journal when a dead letter of it is written whole', async () => {
    const found = await harness(new FakeDisk());
    const { channel } = listen(found.broker);
    const dead = args(['x-dead-letter-exchange', longstr('')], ['x-dead-letter-routing-key', longstr('kept')]);
    channel.declareQueue('work', { durable: true, arguments: dead });
    channel.declareQueue('loose', { arguments: new Map([...dead, ['x-message-ttl', int32(1_000)]]) });
    channel.declareQueue('kept', { durable: true });
    publish(channel, 2);
    await found.journal.flush();
    const vhost = found.broker.virtualHost('/');
    for (const entry of queueOf(found).browse({ limit: 10 }).entries)
      vhost.redrive(queueOf(found), entry, { exchange: '', routingKey: 'loose', headers: undefined });
    await found.journal.flush();
    harm(found.disk, [ids(2)[0]!]);
    found.clock.advance(1_000);
    await found.journal.flush();
    await setImmediate();
    expect(found.failed).toEqual([]);
    expect(queueOf(found, 'kept').length).toBe(2);
    const again = await harness(found.disk.copy());
    expect(again.journal.damage.queues).toEqual([{ vhost: '/', queue: 'kept', lost: 1 }]);
    expect(consume(found, 'kept').ids()).toEqual([ids(2)[1]]);
    expect(queueOf(found, 'kept').counters.lost).toBe(1);
  });

  it('is waited for when it cannot be read while it is to be written whole', async () => {
    const found = await harness(new FakeDisk());
    const { channel } = listen(found.broker);
    const dead = args(['x-dead-letter-exchange', longstr('')], ['x-dead-letter-routing-key', longstr('kept')]);
    channel.declareQueue('work', { durable: true });
    channel.declareQueue('loose', { arguments: new Map([...dead, ['x-message-ttl', int32(1_000)]]) });
    channel.declareQueue('kept', { durable: true });
    publish(channel, 3);
    await found.journal.flush();
    const vhost = found.broker.virtualHost('/');
    for (const entry of queueOf(found).browse({ limit: 10 }).entries)
      vhost.redrive(queueOf(found), entry, { exchange: '', routingKey: 'loose', headers: undefined });
    await found.journal.flush();
    found.disk.readError = fault;
    found.clock.advance(1_000);
    const flushed = found.journal.flush();
    await setImmediate();
    found.disk.readError = undefined;
    await flushed;
    expect(found.failed).toEqual([]);
    expect(found.told.map(({ code }) => code)).toEqual(['unreadable']);
    expect(consume(await restarted(found), 'kept').ids()).toEqual(ids(3));
  });
});
