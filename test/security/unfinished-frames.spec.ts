import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ListenOptions } from '../../libs/dlx-broker/src/amqp/index.js';
import { longstr } from '../../libs/dlx-broker/src/message/index.js';
import { type AmqpHouse, amqpHouse, until } from '../amqp/house.js';
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
  const house = await amqpHouse(options);
  ends.push(() => house.close());
  return house;
}

async function member(house: AmqpHouse): Promise<Talk> {
  const talk = await Talk.open(house.wire);
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

describe('frames of which only a part comes (decision 119)', () => {
  it('take no more than their limit, and those that are silent in the middle of one longest go', async () => {
    const limit = 4_000_000;
    const house = await open({ limits: { unfinishedFrames: limit, silence: 10 } });
    const talks = await Promise.all(Array.from({ length: 200 }, () => member(house)));
    const slow = talks[0] as Talk;
    slow.peer.send(half.subarray(0, 100_000));
    const before = memoryInUse();
    for (const [index, talk] of talks.slice(1).entries()) {
      talk.peer.send(half);
      // One that goes on sending is not silent.
      slow.peer.send(half.subarray(100_000 + index, 100_001 + index));
      if (index % 10 === 9) await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => house.listener.connections.size < 40);
    expect(heldBy(house)).toBeLessThanOrEqual(limit);
    const witness = await WireConnection.open(house.wire);
    await (await witness.openChannel()).call('queue.declare', { queue: 'other' });
    await witness.close();
    expect(memoryInUse() - before).toBeLessThan(20_000_000);
    expect(await close(talks[1] as Talk)).toMatchObject({
      code: 506,
      text: expect.stringMatching(/^RESOURCE_ERROR - unfinished frames of all connections exceed 4000000 bytes/),
    });
    slow.peer.send(whole.subarray(100_199));
    expect((await slow.method()).name).toBe('queue.declare-ok');
  });

  it('are no larger than the frame, however many pieces come, and nothing is held when it is whole', async () => {
    const house = await open();
    const talk = await member(house);
    const [connection] = house.listener.connections;
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
    const house = await open();
    const sockets: Socket[] = Array.from({ length: 50 }, () => connect(house.port, '127.0.0.1').on('error', () => {}));
    ends.push(() => sockets.forEach((socket) => socket.destroy()));
    const head = writeFrame(1, 0, Buffer.alloc(8_184)).subarray(0, -1);
    for (const socket of sockets) socket.write(Buffer.concat([Buffer.from('AMQP\0\0\x09\x01', 'latin1'), head]));
    await until(() => bytesRead(house) >= sockets.length * (head.length + 8));
    expect(heldBy(house)).toBeLessThanOrEqual(sockets.length * 8_192);
    expect(heldBy(house)).toBeGreaterThan(sockets.length * 8_000);
  });

  it('count when a memory alarm waits for what is not finished (decision 104)', async () => {
    const houses: AmqpHouse[] = [];
    const memory = () => ({ used: 900_000 + houses.map(heldBy).reduce((sum, one) => sum + one, 0), limit: 1_000_000 });
    const house = await open({ memory, limits: { unfinishedUnderAlarm: 100, silence: 10 } });
    houses.push(house);
    const quiet = await member(house);
    const talk = await member(house);
    talk.peer.send(half);
    expect(await close(talk)).toMatchObject({ code: 506, text: expect.stringContaining('memory is short') });
    await until(() => house.listener.raised.length === 0);
    quiet.say(2, 'channel.open');
    expect((await quiet.method()).name).toBe('channel.open-ok');
  });
});
