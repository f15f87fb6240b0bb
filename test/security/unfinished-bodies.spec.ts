import { afterEach, describe, expect, it } from 'vitest';
import type { ListenOptions } from '../../libs/dlx-broker/src/amqp/server/index.js';
import type { Permissions } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type FieldTable, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { hashPassword } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { type AmqpHouse, amqpHouse, until } from '../amqp/harness.js';
import { WireConnection } from '../contract/wire/connection.js';
import { writeFrame } from '../contract/wire/frames.js';
import { writeMethod } from '../contract/wire/methods.js';
import { writeContentHeader } from '../contract/wire/properties.js';
import { memoryInUse } from './memory.js';

const harnesses: AmqpHouse[] = [];
afterEach(() => Promise.all(harnesses.splice(0).map((harness) => harness.close())));
async function open(options: ListenOptions = {}): Promise<AmqpHouse> {
  const harness = await amqpHouse(options);
  harnesses.push(harness);
  harness.broker.access.setUser('mallory', { passwordHash: hashPassword('mallory') });
  permit(harness, { configure: '^$', write: '^$', read: '^$' });
  return harness;
}

const permit = ({ broker }: AmqpHouse, permissions: Permissions): void =>
  void broker.access.setPermissions('mallory', '/', permissions);

const mallory = (harness: AmqpHouse): Promise<WireConnection> =>
  WireConnection.open({ ...harness.wire, user: 'mallory', password: 'mallory' });

const largest = 134_217_728;

/** The beginning of a message: its method and its header. */
const begin = (channel: number, size: number, exchange = '', key = 'q', headers?: FieldTable): Buffer =>
  Buffer.concat([
    writeFrame(1, channel, writeMethod('basic.publish', { exchange, key })),
    writeFrame(2, channel, writeContentHeader({ ...(headers && { headers }) }, size)),
  ]);

/** So many bytes of a body, each piece in a frame of its own. */
function body(channel: number, bytes: number, piece: number): Buffer {
  const frame = writeFrame(3, channel, Buffer.alloc(piece, 0x61));
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / piece) }, () => frame));
}

/** Sends bytes, so often; resolves when the system has them, or does not want them any more. */
async function send({ socket }: WireConnection, bytes: Buffer, times = 1): Promise<void> {
  for (let count = 0; count < times && socket.writable; count++) {
    if (!socket.write(bytes)) await until(() => !socket.writableNeedDrain || !socket.writable);
  }
}

const unfinishedOf = ({ listener }: AmqpHouse): number[] =>
  [...listener.connections].map((one) => one.unfinished.bytes);

const received = async (harness: AmqpHouse, bytes: number): Promise<void> =>
  until(() => [...harness.listener.connections].some(({ socket }) => socket.bytesRead >= bytes));

describe('an unfinished body takes at most twice what has come, and a constant', () => {
  it.each([
    ['frames of one byte', 1, 3_000_000],
    ['frames of 100 bytes', 100, 20_000_000],
    ['frames of 20,000 bytes', 20_000, 20_000_000],
    ['frames of 131,064 bytes', 131_064, 20_000_000],
  ])('%s', async (_, piece, bytes) => {
    const harness = await open();
    const connection = await WireConnection.open(harness.wire);
    await connection.openChannel(1);
    const part = body(1, Math.min(bytes, 200_000), piece);
    const times = Math.ceil(bytes / 200_000);
    const before = memoryInUse();
    await send(connection, begin(1, largest));
    await send(connection, part, times);
    await received(harness, part.length * times);
    const grown = memoryInUse() - before;
    connection.drop();
    expect(grown).toBeLessThan(bytes * 2 + 8_000_000);
    expect(grown).toBeGreaterThan(bytes * 0.9);
    await until(() => harness.listener.connections.size === 0);
    expect(memoryInUse() - before).toBeLessThan(8_000_000);
  });

  it('empty frames take nothing, and do not keep others waiting', async () => {
    const harness = await open();
    const connection = await WireConnection.open(harness.wire);
    await connection.openChannel(1);
    const part = Buffer.concat(Array.from({ length: 8_192 }, () => writeFrame(3, 1, Buffer.alloc(0))));
    const other = await WireConnection.open(harness.wire);
    const channel = await other.openChannel();
    const before = memoryInUse();
    await send(connection, begin(1, largest));
    const flood = send(connection, part, 1_000); // 8 million frames, 66 MB
    let trips = 0;
    for (; trips < 5; trips++) await channel.call('queue.declare', { queue: `q-${trips}` });
    const flooded = [...harness.listener.connections].some(({ socket }) => socket.bytesRead >= part.length * 1_000);
    expect(flooded).toBe(false); // they were answered in its middle
    await flood;
    await received(harness, part.length * 1_000);
    expect(memoryInUse() - before).toBeLessThan(8_000_000);
    connection.drop();
    other.drop();
  });

  it('the message arrives whole, however it was cut', async () => {
    const harness = await open();
    const connection = await WireConnection.open(harness.wire);
    const channel = await connection.openChannel(1);
    await channel.call('queue.declare', { queue: 'q' });
    const whole = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 31) % 251));
    const sizes = [1, 20_000, 3, 0, 65_000, 4_095, 4_097, 131_064, 1, 17_000];
    const frames: Buffer[] = [begin(1, whole.length)];
    for (let at = 0, turn = 0; at < whole.length; turn++) {
      const end = Math.min(whole.length, at + (sizes[turn % sizes.length] as number));
      frames.push(writeFrame(3, 1, whole.subarray(at, end)));
      at = end;
    }
    for (const frame of frames) {
      connection.socket.write(frame);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const got = await channel.call('basic.get', { queue: 'q', noAck: true });
    expect(got.body?.equals(whole)).toBe(true);
    connection.drop();
  });
});

describe('a body that will be refused is not kept (rule K7)', () => {
  it.each([
    ['without the right to write', '', '403'],
    ['to an exchange that is missing', 'missing', '404'],
  ])('%s, and the error comes when it is complete', async (_, exchange, code) => {
    const harness = await open();
    if (exchange !== '') permit(harness, { configure: '', write: '.*', read: '' });
    const connection = await mallory(harness);
    const channel = await connection.openChannel(1);
    const before = memoryInUse();
    const bytes = 20_000_000;
    const part = body(1, 200_000, 100);
    await send(connection, begin(1, bytes, exchange));
    await send(connection, part, 99);
    await received(harness, part.length * 99);
    expect(memoryInUse() - before).toBeLessThan(6_000_000);
    expect(channel.failure).toBeUndefined();
    await send(connection, part);
    await until(() => channel.failure !== undefined);
    expect([String(channel.failure?.code), channel.failure?.classId, channel.failure?.methodId]).toEqual([
      code,
      60,
      40,
    ]);
    const other = await connection.openChannel(2);
    await expect(other.call('basic.qos', { prefetchCount: 1 })).resolves.toBeDefined();
    connection.drop();
  });

  it('it stays refused when the right comes in its middle: what is left of it is never published', async () => {
    const harness = await open();
    const owner = await WireConnection.open(harness.wire);
    await (await owner.openChannel()).call('queue.declare', { queue: 'q' });
    const connection = await mallory(harness);
    const channel = await connection.openChannel(1);
    await send(connection, Buffer.concat([begin(1, 2_000), body(1, 1_000, 10)]));
    await until(() => unfinishedOf(harness).every((bytes) => bytes === 0));
    await (await connection.openChannel(2)).call('basic.qos', { prefetchCount: 1 });
    permit(harness, { configure: '', write: '.*', read: '' });
    await send(connection, body(1, 1_000, 10));
    await until(() => channel.failure !== undefined);
    expect(channel.failure?.code).toBe(403);
    expect(harness.broker.virtualHost('/').queues.get('q')?.length).toBe(0);
    for (const one of [owner, connection]) one.drop();
  });

  it('the right is asked again when it is complete', async () => {
    const harness = await open();
    permit(harness, { configure: '', write: '.*', read: '' });
    const owner = await WireConnection.open(harness.wire);
    await (await owner.openChannel()).call('queue.declare', { queue: 'q' });
    const connection = await mallory(harness);
    const channel = await connection.openChannel(1);
    await send(connection, Buffer.concat([begin(1, 2_000), body(1, 1_000, 10)]));
    await until(() => unfinishedOf(harness).includes(1_000));
    permit(harness, { configure: '', write: '^$', read: '' });
    await send(connection, body(1, 1_000, 10));
    await until(() => channel.failure !== undefined);
    expect(channel.failure?.code).toBe(403);
    expect(harness.broker.virtualHost('/').queues.get('q')?.length).toBe(0);
    expect(unfinishedOf(harness)).toEqual([0, 0]);
    for (const one of [owner, connection]) one.drop();
  });
});

describe('all channels of a connection together', () => {
  it('have a bound of unfinished bodies, and one that exceeds it is closed with the reason (506)', async () => {
    const harness = await open({ limits: { unfinished: 1_000_000 } });
    const connection = await WireConnection.open(harness.wire);
    for (const number of [1, 2, 3]) {
      await connection.openChannel(number);
      await send(connection, Buffer.concat([begin(number, largest), body(number, 300_000, 1_000)]));
    }
    await until(() => unfinishedOf(harness).includes(900_000));
    expect(connection.failure).toBeUndefined();
    await send(connection, body(2, 200_000, 1_000));
    const failure = await connection.ended;
    expect(failure.code).toBe(506);
    expect(failure.message).toContain('limits.unfinished');
    await until(() => harness.listener.connections.size === 0);
  });

  it('what is complete, or whose channel has ended, counts no longer', async () => {
    const harness = await open({ limits: { unfinished: 1_000_000 } });
    const connection = await WireConnection.open(harness.wire);
    for (let turn = 0; turn < 5; turn++) {
      const channel = await connection.openChannel(turn + 1);
      await channel.call('queue.declare', { queue: 'q' });
      await send(connection, Buffer.concat([begin(turn + 1, 600_000), body(turn + 1, 600_000, 1_000)]));
      await channel.call('queue.purge', { queue: 'q' });
      expect(unfinishedOf(harness)).toEqual([0]);
      await send(connection, Buffer.concat([begin(turn + 1, 600_000), body(turn + 1, 500_000, 1_000)]));
      await send(connection, writeFrame(3, turn + 1, Buffer.alloc(100_001))); // longer than announced: 501
      if (turn === 0) break;
    }
    expect((await connection.ended).code).toBe(501);
  });

  it('headers whose body is still to come count, too', async () => {
    const harness = await open({ limits: { unfinished: 1_000_000 } });
    const connection = await WireConnection.open(harness.wire);
    const headers = new Map([['x', longstr('x'.repeat(100_000))]]);
    for (let number = 1; number <= 12 && connection.failure === undefined; number++) {
      await connection.openChannel(number).catch(() => undefined);
      await send(connection, begin(number, 1, '', 'q', headers));
    }
    expect((await connection.ended).code).toBe(506);
  });
});

describe('while memory is short', () => {
  it('who is in the middle of a message is not read further, and goes on afterwards', async () => {
    let used = 0;
    const harness = await open({ memory: () => ({ used, limit: 100 }) });
    const connection = await WireConnection.open(harness.wire);
    const channel = await connection.openChannel(1);
    await channel.call('queue.declare', { queue: 'q' });
    const part = body(1, 1_000_000, 1_000);
    await send(connection, begin(1, 40_000_000));
    await send(connection, part);
    await until(() => unfinishedOf(harness).includes(1_000_000));
    used = 101;
    await until(() => harness.listener.raised.includes('memory'));
    const rest = send(connection, part, 39);
    const other = await WireConnection.open(harness.wire);
    await (await other.openChannel()).call('queue.declare', { queue: 'other' });
    await until(() => [...harness.listener.connections].some(({ shownState }) => shownState === 'blocked'));
    for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(Math.max(...unfinishedOf(harness))).toBeLessThan(1_200_000);
    used = 0;
    await rest;
    const queue = harness.broker.virtualHost('/').queues.get('q');
    await until(() => queue?.length === 1);
    for (const one of [connection, other]) one.drop();
  });
});
