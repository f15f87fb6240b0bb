import amqplib from 'amqplib';
import { afterEach, describe, expect, it } from 'vitest';
import type { ListenOptions } from '../../libs/dlx-broker/src/amqp/server/index.js';
import { WireConnection } from '../contract/wire/connection.js';
import { writeFrame } from '../contract/wire/frames.js';
import { type Arguments, writeMethod } from '../contract/wire/methods.js';
import { RawPeer } from '../contract/wire/raw-peer.js';
import { type AmqpHouse, amqpHouse, until } from './harness.js';
import { Talk } from './talk.js';

const harnesses: AmqpHouse[] = [];
afterEach(() => Promise.all(harnesses.splice(0).map((harness) => harness.close())));
async function open(options: ListenOptions = {}): Promise<AmqpHouse> {
  const harness = await amqpHouse(options);
  harnesses.push(harness);
  return harness;
}

const protocolHeader = Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]);

describe('the handshake has an absolute deadline', () => {
  it.each<[string, Buffer]>([
    ['says nothing', Buffer.alloc(0)],
    ['says half a header', protocolHeader.subarray(0, 5)],
    ['goes no further than the header', protocolHeader],
  ])('for a client that %s', async (_, bytes) => {
    const harness = await open({ limits: { handshake: 300 } });
    const peer = await RawPeer.connect('127.0.0.1', harness.port);
    peer.send(bytes);
    await peer.ended;
    await until(() => harness.listener.connections.size === 0);
  });
});

describe('a client that does not read', () => {
  it('is not buffered without bound, and others go on', async () => {
    const harness = await open();
    const publisher = await amqplib.connect(harness.url);
    const channel = await publisher.createConfirmChannel();
    await channel.assertQueue('q');
    const body = Buffer.alloc(100_000);
    for (let count = 0; count < 300; count++) channel.sendToQueue('q', body);
    await channel.waitForConfirms();
    const idle = await WireConnection.open(harness.wire);
    const wire = await idle.openChannel();
    idle.socket.pause();
    idle.send(1, 'basic.consume', { queue: 'q', consumerTag: 'c', noAck: true });
    const queue = harness.broker.virtualHost('/').queues.get('q');
    await until(() => (queue?.consumers.count ?? 0) > 0);
    for (let trips = 0; trips < 20; trips++) await channel.checkQueue('q');
    // The system's own socket buffers take some millions; thirty do not leave.
    expect(queue?.length).toBeGreaterThan(150);
    const socket = [...harness.listener.connections].find(
      ({ channels }) => channels.get(1)?.engine.receiver.consumers.size,
    );
    expect(socket?.socket.writableLength).toBeLessThan(2_500_000);
    let received = 0;
    wire.listener = () => (received += 1);
    idle.socket.resume();
    await until(() => received === 300);
    idle.drop();
    await publisher.close();
  });
});

describe('a client that asks and does not read', () => {
  it('is not answered without bound, and gets every answer once it reads', async () => {
    const harness = await open({ limits: { unread: 100_000 } });
    const connection = await WireConnection.open(harness.wire);
    const channel = await connection.openChannel();
    await channel.call('queue.declare', { queue: 'q' });
    channel.publish({ exchange: '', key: 'q' }, {}, Buffer.alloc(120_000));
    connection.socket.pause();
    const answers: Promise<unknown>[] = [];
    for (let count = 0; count < 1_000; count++) {
      answers.push(channel.call('basic.get', { queue: 'q' }));
      channel.send('basic.reject', { deliveryTag: count + 1, requeue: true });
    }
    for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
    const [waiting] = [...harness.listener.connections].map(({ socket }) => socket.writableLength);
    expect(waiting).toBeLessThan(3_000_000);
    connection.socket.resume();
    expect(await Promise.all(answers)).toHaveLength(1_000);
    connection.drop();
  });
});

describe('a client whose questions have short answers, and who does not read', () => {
  const questions: readonly (readonly [string, Arguments])[] = [
    ['basic.qos', { prefetchCount: 10 }],
    ['basic.get', { queue: 'q' }],
    ['queue.declare', { queue: 'q', passive: true }],
  ];

  it.each(questions)('is not answered without bound: %s', async (name, args) => {
    const harness = await open({ limits: { unread: 10_000 } });
    const talk = await Talk.open(harness.wire);
    const { peer } = talk;
    talk.say(1, 'queue.declare', { queue: 'q' });
    await talk.method();
    peer.socket.pause();
    const question = writeFrame(1, 1, writeMethod(name, args));
    const many = Buffer.concat(Array.from({ length: 100_000 }, () => question));
    const [server] = harness.listener.connections;
    // More than the system buffers: then the server stops reading, and what is sent stays here.
    while (peer.socket.writableLength < 2 * many.length) {
      peer.send(many);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await until(() => server!.flow.isFlooded);
    expect(server!.flow.counted.sendPend).toBeLessThan(2_000_000);
    peer.socket.resume();
    await until(() => peer.socket.writableLength === 0 && !server!.flow.isFlooded);
    peer.socket.destroy();
  });
});

describe('limits', () => {
  it('one connection more than allowed is ended without a word', async () => {
    const harness = await open({ limits: { connections: 1 } });
    const first = await WireConnection.open(harness.wire);
    const peer = await RawPeer.connect('127.0.0.1', harness.port);
    expect(await peer.ended).toHaveLength(0);
    await first.close();
  });

  it('consumers of a channel are counted', async () => {
    const harness = await open({ limits: { consumers: 1 } });
    const connection = await WireConnection.open(harness.wire);
    const channel = await connection.openChannel();
    await channel.call('queue.declare', { queue: 'q' });
    await channel.call('basic.consume', { queue: 'q', consumerTag: 'a' });
    await expect(channel.call('basic.consume', { queue: 'q', consumerTag: 'b' })).rejects.toThrow('530');
  });
});

describe('heartbeats', () => {
  it('are sent every half of the timeout, and a silent client is dropped after three of them', async () => {
    const harness = await open();
    const peer = await RawPeer.connect('127.0.0.1', harness.port);
    const { writeFrame } = await import('../contract/wire/frames.js');
    const { writeMethod } = await import('../contract/wire/methods.js');
    const say = (name: string, args = {}): void => peer.send(writeFrame(1, 0, writeMethod(name, args)));
    peer.send(protocolHeader);
    await peer.next();
    say('connection.start-ok', { mechanism: 'PLAIN', response: '\0guest\0guest', locale: 'en_US' });
    await peer.next();
    say('connection.tune-ok', { channelMax: 2047, frameMax: 4096, heartbeat: 1 });
    say('connection.open', { vhost: '/' });
    await peer.next();
    const begun = performance.now();
    const beat = await peer.next();
    expect([beat.type, beat.channel, beat.payload.length]).toEqual([8, 0, 0]);
    const all = await peer.ended;
    expect(performance.now() - begun).toBeGreaterThan(2_900);
    // One each half second, give or take a look at the clock; in three seconds that is more than one a second.
    let beats = 0;
    while (all.at(-8 * (beats + 1)) === 8 && all.at(-8 * beats - 1) === 0xce) beats += 1;
    expect(beats).toBeGreaterThan(3);
  });
});

describe('a connection that is lost', () => {
  it('gives back what it had not acknowledged, in its old place, and takes its exclusive queues along', async () => {
    const harness = await open();
    const lost = await WireConnection.open(harness.wire);
    const channel = await lost.openChannel();
    await channel.call('queue.declare', { queue: 'q' });
    await channel.call('queue.declare', { queue: 'mine', exclusive: true });
    for (const body of ['one', 'two']) channel.publish({ exchange: '', key: 'q' }, {}, Buffer.from(body));
    await channel.call('basic.get', { queue: 'q' });
    lost.drop();
    const { queues } = harness.broker.virtualHost('/');
    await until(() => !queues.has('mine'));
    const again = await (await WireConnection.open(harness.wire)).openChannel();
    const got = await again.call('basic.get', { queue: 'q', noAck: true });
    expect([String(got.body), got.args['redelivered']]).toEqual(['one', true]);
  });

  it('leaves no half of a message behind', async () => {
    const harness = await open();
    const lost = await WireConnection.open(harness.wire);
    const channel = await lost.openChannel();
    await channel.call('queue.declare', { queue: 'q' });
    const { writeMethod } = await import('../contract/wire/methods.js');
    const { writeContentHeader } = await import('../contract/wire/properties.js');
    lost.frame(1, 1, writeMethod('basic.publish', { exchange: '', key: 'q' }));
    lost.frame(2, 1, writeContentHeader({}, 10));
    lost.frame(3, 1, Buffer.from('12345'));
    lost.socket.end();
    await until(() => harness.listener.connections.size === 0);
    expect(harness.broker.virtualHost('/').queues.get('q')?.length).toBe(0);
  });
});
