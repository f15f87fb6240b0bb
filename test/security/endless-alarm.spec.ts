import { afterEach, describe, expect, it } from 'vitest';
import type { ListenOptions } from '../../libs/dlx-broker/src/amqp/server/index.js';
import { unreadBytesOf } from '../../libs/dlx-broker/src/amqp/server/listener.js';
import { processMemory } from '../../libs/dlx-broker/src/platform/alarms/index.js';
import { type AmqpHouse, amqpHouse, until } from '../amqp/harness.js';
import { WireConnection } from '../contract/wire/connection.js';
import { writeFrame } from '../contract/wire/frames.js';
import { writeMethod } from '../contract/wire/methods.js';
import { writeContentHeader } from '../contract/wire/properties.js';
import { memoryInUse } from './memory.js';

const harnesses: AmqpHouse[] = [];
afterEach(() => Promise.all(harnesses.splice(0).map((harness) => harness.close())));

async function open(options: ListenOptions): Promise<AmqpHouse> {
  const harness = await amqpHouse(options);
  harnesses.push(harness);
  return harness;
}

/** A client in the middle of a message of which so many bytes have come. */
async function unfinished(harness: AmqpHouse, bytes: number): Promise<WireConnection> {
  const connection = await WireConnection.open(harness.wire);
  await connection.openChannel(1);
  const parts = [
    writeFrame(1, 1, writeMethod('basic.publish', { exchange: '', key: 'q' })),
    writeFrame(2, 1, writeContentHeader({}, bytes + 1)),
  ];
  for (let left = bytes; left > 0; left -= 100_000) parts.push(writeFrame(3, 1, Buffer.alloc(Math.min(left, 100_000))));
  connection.socket.write(Buffer.concat(parts));
  await until(() => [...harness.listener.connections].some((one) => unreadBytesOf(one) === bytes));
  return connection;
}

/** A client with so many bytes published and not committed. */
async function uncommitted(harness: AmqpHouse, bytes: number): Promise<WireConnection> {
  const connection = await WireConnection.open(harness.wire);
  const channel = await connection.openChannel(1);
  await channel.call('tx.select', {});
  channel.publish({ exchange: '', key: 'q' }, {}, Buffer.alloc(bytes));
  await until(() => [...harness.listener.connections].some((one) => unreadBytesOf(one) === bytes));
  return connection;
}

/** Memory as if nothing but what waits in connections took any. */
const heldIn = (harness: AmqpHouse | undefined): number =>
  [...(harness?.listener.connections ?? [])].reduce((sum, one) => sum + unreadBytesOf(one), 0);

const limits = { unfinishedUnderAlarm: 200 };

describe('a memory alarm that only unfinished messages keep raised ends', () => {
  it.each([
    ['messages that are not complete', unfinished],
    ['transactions that are not committed', uncommitted],
  ])('%s: those that hold most of it are closed with 506, and others go on', async (_, begun) => {
    const notices: string[] = [];
    const memory = () => ({ used: heldIn(harnesses[0]), limit: 1_000_000 });
    const harness = await open({ memory, limits, notice: (text) => notices.push(text) });
    const small = await begun(harness, 300_000);
    const large = await begun(harness, 900_000);
    await until(() => harness.listener.raised.includes('memory'));
    const failure = await large.ended;
    expect(failure.code).toBe(506);
    expect(failure.message).toContain('limits.unfinishedUnderAlarm');
    await until(() => harness.listener.raised.length === 0);
    expect(small.failure).toBeUndefined();
    await until(() => notices.length === 3);
    expect(notices).toEqual([
      expect.stringMatching(/^Warning: memory is short: publishers wait until there is more/),
      expect.stringMatching(/^memory is short: closes 127\.0\.0\.1:\d+ -> .* 900000 bytes$/),
      expect.stringMatching(/^Memory is sufficient again: publishers go on/),
    ]);
    small.drop();
  });

  it('nothing is closed when the alarm would last without them', async () => {
    let used = 0;
    const harness = await open({ memory: () => ({ used, limit: 1_000_000 }), limits: { unfinishedUnderAlarm: 100 } });
    const connection = await unfinished(harness, 400_000);
    used = 1_500_000;
    await until(() => harness.listener.raised.includes('memory'));
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(connection.failure).toBeUndefined();
    expect([...harness.listener.connections].map(unreadBytesOf)).toEqual([400_000]);
    connection.drop();
  });
});

/** A blocked client that has sent so many bytes of whole publishes. */
async function unread(harness: AmqpHouse, bytes: number): Promise<WireConnection> {
  const connection = await WireConnection.open(harness.wire);
  const before = waitingIn(harness);
  await connection.openChannel(1);
  const parts = [
    writeFrame(1, 1, writeMethod('basic.publish', { exchange: '', key: 'q' })),
    writeFrame(2, 1, writeContentHeader({}, bytes)),
    writeFrame(3, 1, Buffer.alloc(bytes)),
  ];
  connection.socket.write(Buffer.concat(parts));
  await until(() => waitingIn(harness) - before >= bytes);
  return connection;
}

const waitingIn = (harness: AmqpHouse | undefined): number =>
  [...(harness?.listener.connections ?? [])].reduce((sum, { waiting }) => sum + waiting, 0);

describe('what blocked clients have sent and nothing has read', () => {
  it.each([
    ['keeps no alarm raised where it is much', 100_000, [506, undefined]],
    ['is left alone where it is as much as of honest publishers', 1_000_000, [undefined, undefined]],
  ])('%s', async (_, unfinishedFrames, codes) => {
    let others = 2_000_000;
    const memory = () => ({ used: others + waitingIn(harnesses[0]), limit: 1_000_000 });
    const harness = await open({ memory, limits: { unfinishedUnderAlarm: 200, unfinishedFrames } });
    await until(() => harness.listener.raised.includes('memory'));
    const large = await unread(harness, 60_000);
    const small = await unread(harness, 50_000);
    others = 900_000; // the rest is what the two have sent
    if (codes[0] !== undefined) await until(() => harness.listener.raised.length === 0);
    else await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect([large.failure?.code, small.failure?.code]).toEqual(codes);
    large.drop();
    small.drop();
  });
});

describe('a publisher that waits for an alarm', () => {
  it.each(['end', 'resetAndDestroy'] as const)('is found gone in its middle, without heartbeats: %s', async (way) => {
    let used = 0;
    const harness = await open({ memory: () => ({ used, limit: 1 }), limits: { signOfLife: 500 } });
    const connection = await WireConnection.open(harness.wire);
    const channel = await connection.openChannel(1);
    await channel.call('queue.declare', { queue: 'own', exclusive: true });
    used = 2;
    await until(() => harness.listener.raised.includes('memory'));
    channel.publish({ exchange: '', key: 'own' }, {}, Buffer.alloc(10));
    await until(() => [...harness.listener.connections].some(({ shownState }) => shownState === 'blocked'));
    if (way === 'end') connection.socket.destroy();
    else connection.socket.resetAndDestroy();
    await until(() => harness.listener.connections.size === 0);
    expect(harness.listener.raised).toEqual(['memory']);
    expect(harness.broker.virtualHost('/').queues.size).toBe(0);
  });
});

describe('memory that was given up', () => {
  it('is collected while publishers wait, though nothing else happens', async () => {
    const room = 100_000_000;
    const limit = memoryInUse() + room;
    const measure = processMemory(limit);
    let held: Buffer[] | undefined = Array.from({ length: 200 }, () => Buffer.alloc(1_000_000));
    expect(memoryInUse()).toBeGreaterThan(limit);
    expect(held.length).toBe(200);
    held = undefined;
    // The first measurement above the limit asks for a collection; the next ones do only seconds later.
    expect(measure().used).toBeGreaterThan(limit);
    const since = performance.now();
    while (measure().used > measure().limit) {
      expect(performance.now() - since).toBeLessThan(8_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }, 15_000);
});
