import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ListenOptions } from '../../libs/dlx-broker/src/amqp/server/index.js';
import { longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { type AmqpHouse, amqpHouse, until } from '../amqp/harness.js';
import { Talk } from '../amqp/talk.js';
import { WireConnection } from '../contract/wire/connection.js';
import { writeFrame } from '../contract/wire/frames.js';
import { readMethod, writeMethod } from '../contract/wire/methods.js';
import { memoryInUse } from './memory.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function open(options: ListenOptions = {}): Promise<AmqpHouse> {
  const harness = await amqpHouse(options);
  ends.push(() => harness.close());
  return harness;
}

async function member(harness: AmqpHouse): Promise<Talk> {
  const talk = await Talk.open(harness.wire);
  ends.push(() => talk.drop());
  return talk;
}

/** A method frame of nearly the largest size; all but its last byte. */
const long = { arguments: new Map([['note', longstr('x'.repeat(131_000))]]) };
const whole = writeFrame(1, 1, writeMethod('queue.declare', { queue: 'q', ...long }));
const half = whole.subarray(0, -1);

const heldBy = ({ listener }: AmqpHouse): number => [...listener.connections].reduce((sum, one) => sum + one.held, 0);
const bytesRead = ({ listener }: AmqpHouse): number =>
  [...listener.connections].reduce((sum, one) => sum + one.socket.bytesRead, 0);

/** What the connection ends with. */
async function close(talk: Talk): Promise<unknown> {
  const { args } = readMethod((await talk.frame()).payload);
  return args;
}

describe('frames of which only a part comes', () => {
  it('take no more than their limit, and those that are silent in the middle of one longest go', async () => {
    const limit = 4_000_000;
    const harness = await open({ limits: { unfinishedFrames: limit, silence: 10 } });
    const talks = await Promise.all(Array.from({ length: 200 }, () => member(harness)));
    const slow = talks[0] as Talk;
    slow.peer.send(half.subarray(0, 100_000));
    const before = memoryInUse();
    for (const [index, talk] of talks.slice(1).entries()) {
      talk.peer.send(half);
      // One that goes on sending is not silent.
      slow.peer.send(half.subarray(100_000 + index, 100_001 + index));
      if (index % 10 === 9) await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => harness.listener.connections.size < 40);
    expect(heldBy(harness)).toBeLessThanOrEqual(limit);
    const otherClient = await WireConnection.open(harness.wire);
    await (await otherClient.openChannel()).call('queue.declare', { queue: 'other' });
    await otherClient.close();
    expect(memoryInUse() - before).toBeLessThan(20_000_000);
    expect(await close(talks[1] as Talk)).toMatchObject({
      code: 506,
      text: expect.stringMatching(/^RESOURCE_ERROR - unfinished frames of all connections exceed 4000000 bytes/),
    });
    slow.peer.send(whole.subarray(100_199));
    expect((await slow.method()).name).toBe('queue.declare-ok');
  });

  it('are no larger than the frame, however many pieces come, and nothing is held when it is whole', async () => {
    const harness = await open();
    const talk = await member(harness);
    const [connection] = harness.listener.connections;
    const before = connection?.socket.bytesRead ?? 0;
    for (let at = 0; at < half.length; at += 10_000) {
      talk.peer.send(half.subarray(at, at + 10_000));
      const sent = Math.min(at + 10_000, half.length);
      await until(() => (connection?.socket.bytesRead ?? 0) >= before + sent);
      expect(connection?.held).toBeLessThanOrEqual(whole.length);
    }
    talk.peer.send(whole.subarray(-1));
    expect((await talk.method()).name).toBe('queue.declare-ok');
    expect(connection?.held).toBe(0);
  });

  it('before the login are no larger than the first frame may be', async () => {
    const harness = await open();
    const sockets: Socket[] = Array.from({ length: 50 }, () =>
      connect(harness.port, '127.0.0.1').on('error', () => {}),
    );
    ends.push(() => sockets.forEach((socket) => socket.destroy()));
    const head = writeFrame(1, 0, Buffer.alloc(4_088)).subarray(0, -1);
    for (const socket of sockets) socket.write(Buffer.concat([Buffer.from('AMQP\0\0\x09\x01', 'latin1'), head]));
    await until(() => bytesRead(harness) >= sockets.length * (head.length + 8));
    expect(heldBy(harness)).toBeLessThanOrEqual(sockets.length * 4_096);
    expect(heldBy(harness)).toBeGreaterThan(sockets.length * 4_000);
  });

  it('count when a memory alarm waits for what is not finished', async () => {
    const harnesses: AmqpHouse[] = [];
    const memory = () => ({
      used: 900_000 + harnesses.map(heldBy).reduce((sum, one) => sum + one, 0),
      limit: 1_000_000,
    });
    const harness = await open({ memory, limits: { unfinishedUnderAlarm: 100, silence: 10 } });
    harnesses.push(harness);
    const quiet = await member(harness);
    const talk = await member(harness);
    talk.peer.send(half);
    expect(await close(talk)).toMatchObject({ code: 506, text: expect.stringContaining('memory is short') });
    await until(() => harness.listener.raised.length === 0);
    quiet.say(2, 'channel.open');
    expect((await quiet.method()).name).toBe('channel.open-ok');
  });
});
