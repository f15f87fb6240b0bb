import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Broker, type Channel, silentOutbox } from '../../libs/dlx-broker/src/broker/index.js';
import { type Field, int32, longstr } from '../../libs/dlx-broker/src/message/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { listen } from '../../libs/dlx-broker/src/testing/listener.js';
import { ManualClock } from '../../libs/dlx-broker/src/testing/manual-clock.js';
import { bodyOf, messageIdOf } from './bodies.js';
import { FakeDisk } from './fake-disk.js';
import { systemError } from './fake-file.js';
import { lent } from './house.js';

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
type House = Awaited<ReturnType<typeof opened>>;

/** A client that takes one message and keeps it, and notes the bodies it gets. */
function consume({ broker }: House, queue = 'work') {
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
  const house = await opened(new FakeDisk());
  const { channel } = listen(house.broker);
  channel.declareQueue('dead', { durable: true });
  channel.declareQueue('work', { durable: true, arguments: new Map([...toDead, ...more]) });
  for (const messageId of ids(6)) channel.publish('', 'work', { messageId, deliveryMode: 2 }, bodyOf(messageId));
  await house.journal.flush();
  const client = consume(house);
  expect(client.got).toEqual(ids(1));
  house.disk.readError = fault;
  client.channel.ack(1);
  expect(house.broker.stalls.count).toBe(1);
  return { ...house, client, operator: listen(house.broker).channel };
}

/** What is in a queue after a clean restart on a disk that answers. */
async function left({ disk, journal }: House, name: string): Promise<string[]> {
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
  it('loses nothing when the time of its messages is up, and is no longer told of', async () => {
    const house = await stalled(new Map([['x-message-ttl', int32(1_000)]]));
    house.clock.advance(1_500);
    expect(house.queue('work')?.length).toBe(0);
    expect(house.queue('dead')?.length).toBe(5);
    house.clock.advance(5_000);
    expect(house.broker.stalls.count).toBe(0);
    expect(await left(house, 'dead')).toEqual(rest);
  });

  it('loses nothing when a policy makes it shorter', async () => {
    const house = await stalled();
    house.broker.virtualHost('/').setPolicy('short', { pattern: 'work', definition: { 'max-length': 3 } });
    expect(house.queue('work')?.length).toBe(3);
    expect(house.queue('dead')?.length).toBe(2);
    expect(house.broker.stalls.count).toBe(1);
    const dead = rest.slice(0, 2);
    expect(await left(house, 'dead')).toEqual(dead);
    expect(await left(house, 'work')).toEqual(rest.slice(2));
  });

  it('can be purged, and goes on with what comes then', async () => {
    const house = await stalled();
    expect(house.operator.purgeQueue('work')).toBe(5);
    expect(house.broker.stalls.count).toBe(0);
    const messageId = messageIdOf(7, 10);
    house.operator.publish('', 'work', { messageId, deliveryMode: 1 }, bodyOf(messageId));
    expect(house.client.got.at(-1)).toBe(messageId);
    house.client.channel.ack(2);
    house.clock.advance(60_000);
    expect(house.broker.stalls.count).toBe(0);
    expect(await left(house, 'work')).toEqual([]);
  });

  it.each(['its queue', 'its virtual host'] as const)('is no longer told of when %s is deleted', async (what) => {
    const house = await stalled();
    if (what === 'its queue') house.operator.deleteQueue('work');
    else house.broker.removeVirtualHost('/');
    expect(house.broker.stalls.count).toBe(0);
    house.clock.advance(60_000);
    expect(house.broker.stalls.count).toBe(0);
    expect(house.client.got).toEqual(ids(1));
  });

  it('keeps everything when its consumer goes, and gives it to the next one', async () => {
    const house = await stalled();
    house.client.connection.close();
    house.clock.advance(10_000);
    expect(house.broker.stalls.count, 'the disk is as it was').toBe(1);
    const next = consume(house);
    expect(next.got).toEqual([]);
    house.disk.readError = undefined;
    house.clock.advance(10_000);
    expect(house.broker.stalls.count).toBe(0);
    expect(next.got).toEqual(rest.slice(0, 1));
    next.connection.close();
    expect(await left(house, 'work')).toEqual(rest);
  });

  it('gives back what its client had when that goes in the middle of a pause, in order', async () => {
    const house = await opened(new FakeDisk());
    const { channel } = listen(house.broker);
    channel.declareQueue('work', { durable: true });
    for (const messageId of ids(6)) channel.publish('', 'work', { messageId, deliveryMode: 2 }, bodyOf(messageId));
    await house.journal.flush();
    const taker = house.broker.connect();
    const holder = taker.openChannel({ ...silentOutbox });
    holder.qos(3);
    holder.consume('work');
    house.disk.readError = fault;
    holder.ack(1);
    expect(house.broker.stalls.count).toBe(1);
    taker.close();
    expect(house.queue('work')?.length).toBe(5);
    expect(await left(house, 'work')).toEqual(rest);
  });

  it('is settled many at once by a client that had them before', async () => {
    const house = await opened(new FakeDisk());
    const { channel } = listen(house.broker);
    channel.declareQueue('dead', { durable: true });
    channel.declareQueue('work', { durable: true, arguments: toDead });
    for (const messageId of ids(6)) channel.publish('', 'work', { messageId, deliveryMode: 2 }, bodyOf(messageId));
    await house.journal.flush();
    const holder = house.broker.connect().openChannel({ ...silentOutbox });
    holder.qos(4);
    holder.consume('work');
    house.disk.readError = fault;
    holder.nack(4, true, false);
    await setImmediate();
    expect(house.queue('dead')?.length).toBe(4);
    expect(house.broker.stalls.count).toBe(1);
    const dead = await left(house, 'dead');
    expect(dead).toEqual(ids(4));
    expect(await left(house, 'work')).toEqual(ids(6).slice(4));
  });
});
