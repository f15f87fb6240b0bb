import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Broker, type Channel, silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type Field, int32, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { listen } from '../harnesses/listener.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { bodyOf, messageIdOf } from './bodies.js';
import { FakeDisk } from './fake-disk.js';
import { systemError } from './fake-file.js';
import { lent } from './harness.js';

const fault = systemError('EIO', 'i/o error, read');
const toDead = new Map<string, Field>([
  ['x-dead-letter-exchange', longstr('')],
  ['x-dead-letter-routing-key', longstr('dead')],
]);
/** Bytes of a body: so large that one read of the log brings no other. */
const size = 140_000;
const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => messageIdOf(index + 1, size));

async function opened(disk: FakeDisk) {
  disk.isManual = false;
  const clock = new ManualClock();
  const journal = await DiskJournal.open(disk, { memory: 0, diskFree: 0, now: () => clock.now() });
  const broker = new Broker({ ...lent(clock), journal });
  journal.restore(broker);
  const queue = (name: string) => broker.virtualHost('/').queues.get(name);
  return { disk, clock, journal, broker, queue };
}
type Harness = Awaited<ReturnType<typeof opened>>;

/** A client that takes one message and keeps it, and notes the bodies it gets. */
function consume({ broker }: Harness, queue = 'work') {
  const connection = broker.connect();
  const got: string[] = [];
  const channel: Channel = connection.openChannel({
    ...silentOutbox,
    deliver: ({ message, body }) => {
      const messageId = message.properties.messageId as string;
      expect(bodyOf(messageId).equals(Buffer.from(body))).toBe(true);
      got.push(messageId);
    },
  });
  channel.qos(1);
  channel.consume(queue);
  return { connection, channel, got };
}

/** Six messages on disk; the first is in the hands of a client, and the queue stands still before the second. */
async function stalled(more: Map<string, Field> = new Map()) {
  const harness = await opened(new FakeDisk());
  const { channel } = listen(harness.broker);
  channel.declareQueue('dead', { durable: true });
  channel.declareQueue('work', { durable: true, arguments: new Map([...toDead, ...more]) });
  for (const messageId of ids(6)) channel.publish('', 'work', { messageId, deliveryMode: 2 }, bodyOf(messageId));
  await harness.journal.flush();
  const client = consume(harness);
  expect(client.got).toEqual(ids(1));
  harness.disk.readError = fault;
  client.channel.ack(1);
  expect(harness.broker.stalls.count).toBe(1);
  return { ...harness, client, operator: listen(harness.broker).channel };
}

/** What is in a queue after a clean restart on a disk that answers. */
async function left({ disk, journal }: Harness, name: string): Promise<string[]> {
  disk.readError = undefined;
  await journal.close();
  const { broker, queue } = await opened(disk.copy());
  if (queue(name) === undefined) return [];
  const { channel } = listen(broker);
  const found: string[] = [];
  for (let got = channel.get(name); got !== undefined; got = channel.get(name)) {
    found.push(got.message.properties.messageId as string);
    expect(bodyOf(found.at(-1)!).equals(Buffer.from(got.body))).toBe(true);
  }
  return found;
}

const rest = ids(6).slice(1);

describe('a queue that stands still, for it cannot be read', () => {
  it('loses nothing when the time of its messages is up, and is no longer reported', async () => {
    const harness = await stalled(new Map([['x-message-ttl', int32(1_000)]]));
    harness.clock.advance(1_500);
    expect(harness.queue('work')?.length).toBe(0);
    expect(harness.queue('dead')?.length).toBe(5);
    harness.clock.advance(5_000);
    expect(harness.broker.stalls.count).toBe(0);
    expect(await left(harness, 'dead')).toEqual(rest);
  });

  it('loses nothing when a policy makes it shorter', async () => {
    const harness = await stalled();
    harness.broker.virtualHost('/').setPolicy('short', { pattern: 'work', definition: { 'max-length': 3 } });
    expect(harness.queue('work')?.length).toBe(3);
    expect(harness.queue('dead')?.length).toBe(2);
    expect(harness.broker.stalls.count).toBe(1);
    const dead = rest.slice(0, 2);
    expect(await left(harness, 'dead')).toEqual(dead);
    expect(await left(harness, 'work')).toEqual(rest.slice(2));
  });

  it('can be purged, and goes on with what comes then', async () => {
    const harness = await stalled();
    expect(harness.operator.purgeQueue('work')).toBe(5);
    expect(harness.broker.stalls.count).toBe(0);
    const messageId = messageIdOf(7, 10);
    harness.operator.publish('', 'work', { messageId, deliveryMode: 1 }, bodyOf(messageId));
    expect(harness.client.got.at(-1)).toBe(messageId);
    harness.client.channel.ack(2);
    harness.clock.advance(60_000);
    expect(harness.broker.stalls.count).toBe(0);
    expect(await left(harness, 'work')).toEqual([]);
  });

  it.each(['its queue', 'its virtual host'] as const)('is no longer reported when %s is deleted', async (what) => {
    const harness = await stalled();
    if (what === 'its queue') harness.operator.deleteQueue('work');
    else harness.broker.removeVirtualHost('/');
    expect(harness.broker.stalls.count).toBe(0);
    harness.clock.advance(60_000);
    expect(harness.broker.stalls.count).toBe(0);
    expect(harness.client.got).toEqual(ids(1));
  });

  it('keeps everything when its consumer goes, and gives it to the next one', async () => {
    const harness = await stalled();
    harness.client.connection.close();
    harness.clock.advance(10_000);
    expect(harness.broker.stalls.count, 'the disk is as it was').toBe(1);
    const next = consume(harness);
    expect(next.got).toEqual([]);
    harness.disk.readError = undefined;
    harness.clock.advance(10_000);
    expect(harness.broker.stalls.count).toBe(0);
    expect(next.got).toEqual(rest.slice(0, 1));
    next.connection.close();
    expect(await left(harness, 'work')).toEqual(rest);
  });

  it('gives back what its client had when that goes in the middle of a pause, in order', async () => {
    const harness = await opened(new FakeDisk());
    const { channel } = listen(harness.broker);
    channel.declareQueue('work', { durable: true });
    for (const messageId of ids(6)) channel.publish('', 'work', { messageId, deliveryMode: 2 }, bodyOf(messageId));
    await harness.journal.flush();
    const taker = harness.broker.connect();
    const holder = taker.openChannel({ ...silentOutbox });
    holder.qos(3);
    holder.consume('work');
    harness.disk.readError = fault;
    holder.ack(1);
    expect(harness.broker.stalls.count).toBe(1);
    taker.close();
    expect(harness.queue('work')?.length).toBe(5);
    expect(await left(harness, 'work')).toEqual(rest);
  });

  it('is settled many at once by a client that had them before', async () => {
    const harness = await opened(new FakeDisk());
    const { channel } = listen(harness.broker);
    channel.declareQueue('dead', { durable: true });
    channel.declareQueue('work', { durable: true, arguments: toDead });
    for (const messageId of ids(6)) channel.publish('', 'work', { messageId, deliveryMode: 2 }, bodyOf(messageId));
    await harness.journal.flush();
    const holder = harness.broker.connect().openChannel({ ...silentOutbox });
    holder.qos(4);
    holder.consume('work');
    harness.disk.readError = fault;
    holder.nack(4, true, false);
    await setImmediate();
    expect(harness.queue('dead')?.length).toBe(4);
    expect(harness.broker.stalls.count).toBe(1);
    const dead = await left(harness, 'dead');
    expect(dead).toEqual(ids(4));
    expect(await left(harness, 'work')).toEqual(ids(6).slice(4));
  });
});
