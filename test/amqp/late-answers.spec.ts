import { describe, expect, it } from 'vitest';
import { int32 } from '../../libs/dlx-broker/src/engine/message/index.js';
import type { WireOptions } from '../contract/wire/connection.js';
import { writeFrame } from '../contract/wire/frames.js';
import { type Arguments, readMethod, writeMethod } from '../contract/wire/methods.js';
import { writeContentHeader } from '../contract/wire/properties.js';
import { type AmqpHouse, amqpHouse, until } from './harness.js';
import { Talk } from './talk.js';

const real = process.env['AMQP_URL'];
const count = 1_000;

const say = (channel: number, name: string, args: Arguments = {}): Buffer =>
  writeFrame(1, channel, writeMethod(name, args));
const publish = (channel: number, key: string, expiration?: string): Buffer =>
  Buffer.concat([
    say(channel, 'basic.publish', { key }),
    writeFrame(2, channel, writeContentHeader(expiration === undefined ? {} : { expiration }, 1)),
    writeFrame(3, channel, Buffer.from('x')),
  ]);
const times = (part: (index: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, n) => part(n)));

/** Turns of the broker come only while it is not held. */
interface Turns {
  isHeld: boolean;
  /** Undefined for a RabbitMQ, whose turns are its own. */
  readonly house: AmqpHouse | undefined;
  readonly talks: Talk[];
}

/** Runs the same beside a broker of ours, whose turns the test holds, and a RabbitMQ. */
async function each(run: (wire: WireOptions, turns: Turns) => Promise<void>, consumerTimeout?: number): Promise<void> {
  const resumes: (() => void)[] = [];
  const pace = { budget: 50, later: (resume: () => void) => void resumes.push(resume) };
  const house = await amqpHouse({}, pace, consumerTimeout === undefined ? {} : { consumerTimeout });
  const timer = setInterval(() => !ours.isHeld && resumes.splice(0).forEach((resume) => resume()), 1);
  const ours: Turns = { isHeld: false, house, talks: [] };
  const theirs: Turns = { isHeld: false, house: undefined, talks: [] };
  try {
    await run(house.wire, ours);
    if (real === undefined) return;
    const { hostname: host, port } = new URL(real);
    await run({ ...house.wire, host, port: Number(port) || 5672 }, theirs);
  } finally {
    for (const { peer } of [...ours.talks, ...theirs.talks]) peer.socket.destroy();
    clearInterval(timer);
    await house.close();
  }
}

async function open(wire: WireOptions, turns: Turns): Promise<Talk> {
  const talk = await Talk.open(wire);
  turns.talks.push(talk);
  return talk;
}

/** The methods that come, by channel, up to the last one expected. */
async function heard(talk: Talk, last: string): Promise<Record<number, string[]>> {
  const log: Record<number, string[]> = {};
  for (;;) {
    const { type, channel, payload } = await talk.frame();
    if (type !== 1) continue;
    const { name, args } = readMethod(payload);
    const { messageCount = '', code = '' } = args;
    (log[channel] ??= []).push(`${name} ${messageCount as number}${code as number}`.trim());
    if (`${channel} ${name}` === last) return log;
  }
}

/** Two channels, and two queues that end with the connection. */
async function twoChannels(wire: WireOptions, turns: Turns): Promise<Talk> {
  const talk = await open(wire, turns);
  talk.say(2, 'channel.open');
  await talk.method();
  for (const queue of ['late.one', 'late.two']) {
    talk.say(1, 'queue.declare', { queue, exclusive: true });
    await talk.method();
  }
  return talk;
}

/** Very many expired messages, and behind them one that is not. */
async function expired(talk: Talk, turns: Turns): Promise<void> {
  turns.isHeld = true;
  talk.peer.send(Buffer.concat([times(() => publish(1, 'late.one', '1')), publish(1, 'late.one')]));
  const queue = (): number => turns.house?.broker.virtualHost('/').queues.get('late.one')?.length ?? 0;
  if (turns.house !== undefined) await until(() => queue() > count / 2);
  talk.say(1, 'queue.declare', { queue: 'late.one', passive: true });
  await talk.method(); // all of them are in the queue
  await new Promise((resolve) => setTimeout(resolve, 20));
  if (turns.house !== undefined) expect(queue()).toBeGreaterThan(count / 2);
}

/** Sends all of it in one write; turns come a moment later. */
function send(talk: Talk, turns: Turns, ...frames: readonly Buffer[]): void {
  talk.peer.send(Buffer.concat(frames));
  setTimeout(() => (turns.isHeld = false), 20);
}

describe('a get-ok that comes late', () => {
  it('is before the answers of all that stands behind it on its channel, and other channels are answered', async () => {
    await each(async (wire, turns) => {
      const talk = await twoChannels(wire, turns);
      await expired(talk, turns);
      send(
        talk,
        turns,
        say(1, 'basic.get', { queue: 'late.one' }),
        say(2, 'queue.declare', { queue: 'late.two', passive: true }),
        publish(1, 'late.one'),
        say(1, 'basic.ack', { deliveryTag: 0, multiple: true }),
        say(2, 'basic.get', { queue: 'late.two' }),
        say(1, 'basic.get', { queue: 'late.one' }),
        say(1, 'basic.ack', { deliveryTag: 2 }),
        say(1, 'channel.close', { code: 200 }),
      );
      expect(await heard(talk, '1 channel.close-ok')).toEqual({
        1: ['basic.get-ok 0', 'basic.get-ok 0', 'channel.close-ok'],
        2: ['queue.declare-ok 0', 'basic.get-empty'],
      });
    });
  });

  it('delays other channels only when a frame follows it on its own channel', async () => {
    await each(async (wire, turns) => {
      if (turns.house === undefined) return; // on RabbitMQ the moment cannot be chosen
      const talk = await twoChannels(wire, turns);
      await expired(talk, turns);
      const declare = (channel: number): Buffer => say(channel, 'queue.declare', { queue: 'late.two', passive: true });
      talk.peer.send(Buffer.concat([say(1, 'basic.get', { queue: 'late.one' }), declare(2)]));
      expect(await heard(talk, '2 queue.declare-ok')).toEqual({ 2: ['queue.declare-ok 0'] });
      send(talk, turns, declare(1), declare(2));
      expect(await heard(talk, '2 queue.declare-ok')).toEqual({
        1: ['basic.get-ok 0', 'queue.declare-ok 0'],
        2: ['queue.declare-ok 0'],
      });
    });
  });

  it('is before the close-ok of its connection, also without an ack', async () => {
    await each(async (wire, turns) => {
      const talk = await twoChannels(wire, turns);
      await expired(talk, turns);
      send(
        talk,
        turns,
        say(1, 'basic.get', { queue: 'late.one', noAck: true }),
        say(0, 'connection.close', { code: 200 }),
      );
      expect(await heard(talk, '0 connection.close-ok')).toEqual({
        0: ['connection.close-ok'],
        1: ['basic.get-ok 0'],
      });
    });
  });
});

describe('a close-ok that comes late', () => {
  it('of a channel: nothing behind the close is done, other channels are answered, and all is back', async () => {
    await each(async (wire, turns) => {
      const talk = await twoChannels(wire, turns);
      await unacked(talk);
      turns.isHeld = true;
      send(
        talk,
        turns,
        say(1, 'channel.close', { code: 200 }),
        publish(1, 'late.two'),
        say(1, 'basic.get', { queue: 'late.one' }),
        say(2, 'basic.get', { queue: 'late.two' }),
      );
      const log = await heard(talk, '1 channel.close-ok');
      expect(log[1]).toEqual(['channel.close-ok']);
      talk.say(2, 'queue.declare', { queue: 'late.one', passive: true });
      const after = await heard(talk, '2 queue.declare-ok');
      expect([...(log[2] ?? []), ...(after[2] ?? [])]).toEqual(['basic.get-empty', `queue.declare-ok ${count}`]);
    });
  });

  it(
    'of a connection: until then its exclusive queues are locked, then they are gone',
    { timeout: 30_000 },
    async () => {
      await each(async (wire, turns) => {
        const talk = await Talk.open(wire);
        talk.peer.send(times((n) => say(1, 'queue.declare', { queue: `late.${n}`, exclusive: true })));
        for (let n = 0; n < count; n++) await talk.method();
        const other = await open(wire, turns);
        turns.isHeld = true;
        send(talk, turns, say(0, 'connection.close', { code: 200 }), publish(1, 'late.0'), say(1, 'queue.declare'));
        if (turns.house !== undefined) {
          // On RabbitMQ the moment cannot be chosen.
          other.say(1, 'queue.declare', { queue: `late.${count - 1}`, passive: true });
          expect((await other.method()).args['code']).toBe(405);
          other.say(1, 'channel.close-ok');
          other.say(1, 'channel.open');
          await other.method();
        }
        expect(await heard(talk, '0 connection.close-ok')).toEqual({ 0: ['connection.close-ok'] });
        for (const n of [0, 1, count / 2, count - 1]) {
          other.say(1, 'queue.declare', { queue: `late.${n}`, passive: true });
          expect((await other.method()).args['code']).toBe(404);
          other.say(1, 'channel.close-ok');
          other.say(1, 'channel.open');
          await other.method();
        }
      });
    },
  );
});

/** Publishes {@link count} messages, and gets them all without settling them. */
async function unacked(talk: Talk): Promise<void> {
  talk.peer.send(Buffer.concat([times(() => publish(1, 'late.one')), say(1, 'confirm.select')]));
  await talk.method();
  talk.say(1, 'basic.consume', { queue: 'late.one', consumerTag: 'c' });
  for (let deliveries = 0; deliveries < count;) {
    const { type, payload } = await talk.frame();
    if (type === 1 && readMethod(payload).name === 'basic.deliver') deliveries++;
    if (deliveries === count) for (let rest = 0; rest < 2; rest++) await talk.frame();
  }
}

describe('a channel.close of the broker that comes late, because many messages return first', () => {
  it('is before the close-ok for a close that crosses it (rule Q9)', async () => {
    await each(async (wire, turns) => {
      const talk = await twoChannels(wire, turns);
      await unacked(talk);
      turns.isHeld = true;
      send(talk, turns, say(1, 'basic.ack', { deliveryTag: 999_999 }), say(1, 'channel.close', { code: 200 }));
      expect(await heard(talk, '1 channel.close-ok')).toEqual({ 1: ['channel.close 406', 'channel.close-ok'] });
      talk.say(2, 'basic.get', { queue: 'late.two' });
      expect(await heard(talk, '2 basic.get-empty')).toEqual({ 2: ['basic.get-empty'] });
    });
  });

  it('for an ack that did not come in time: frames that come meanwhile are ignored', async () => {
    await each(async (wire, turns) => {
      const { house } = turns;
      if (house === undefined) return; // RabbitMQ looks once a minute
      const talk = await twoChannels(wire, turns);
      await unacked(talk);
      turns.isHeld = true;
      const [connection] = house.broker.virtualHost('/').connections;
      await until(() => [...connection!.channels].filter(({ isClosed }) => !isClosed).length < 2);
      send(talk, turns, publish(1, 'late.two'), say(1, 'basic.get', { queue: 'late.two' }));
      expect(await heard(talk, '1 channel.close')).toEqual({ 1: ['channel.close 406'] });
      talk.say(2, 'basic.get', { queue: 'late.two' });
      expect(await heard(talk, '2 basic.get-empty')).toEqual({ 2: ['basic.get-empty'] });
    }, 1_000);
  });
});

describe('an answer that comes late', () => {
  it('holds up neither settlements of its channel nor other channels, and publishes of its channel wait', async () => {
    await each(async (wire, turns) => {
      const { house } = turns;
      if (house === undefined) return; // on RabbitMQ the moment cannot be chosen
      const talk = await twoChannels(wire, turns);
      talk.peer.send(Buffer.concat([publish(1, 'late.two'), say(1, 'basic.get', { queue: 'late.two' })]));
      await heard(talk, '1 basic.get-ok');
      talk.peer.send(Buffer.concat([times(() => publish(1, 'late.one')), say(1, 'confirm.select')]));
      await heard(talk, '1 confirm.select-ok');
      turns.isHeld = true;
      const settle = say(1, 'basic.nack', { deliveryTag: 1, requeue: true });
      const get = say(2, 'basic.get', { queue: 'late.two' });
      talk.peer.send(
        Buffer.concat([say(1, 'queue.purge', { queue: 'late.one' }), settle, get, publish(1, 'late.two')]),
      );
      expect(await heard(talk, '2 basic.get-ok')).toEqual({ 2: ['basic.get-ok 0'] });
      turns.isHeld = false;
      expect(await heard(talk, '1 basic.ack')).toEqual({ 1: [`queue.purge-ok ${count}`, 'basic.ack'] });
    });
  });
});

describe('a publish that takes the place of very many messages', () => {
  it('is confirmed when they are gone: nothing after it knows of them', async () => {
    const small = 6_000;
    await each(async (wire, turns) => {
      const talk = await open(wire, turns);
      const other = await open(wire, turns);
      const limits = new Map([['x-max-length-bytes', int32(small)]]);
      talk.say(1, 'queue.declare', { queue: 'late.full', exclusive: false, autoDelete: true, arguments: limits });
      await talk.method();
      talk.say(1, 'queue.purge', { queue: 'late.full' });
      await talk.method();
      talk.peer.send(Buffer.concat(Array.from({ length: small }, () => publish(1, 'late.full'))));
      talk.say(1, 'confirm.select');
      await talk.method();
      turns.isHeld = true;
      const large = Buffer.alloc(small);
      send(
        talk,
        turns,
        say(1, 'basic.publish', { key: 'late.full' }),
        writeFrame(2, 1, writeContentHeader({}, large.length)),
        writeFrame(3, 1, large),
      );
      expect(await heard(talk, '1 basic.ack')).toEqual({ 1: ['basic.ack'] });
      talk.say(1, 'queue.declare', { queue: 'late.full', passive: true });
      expect(await heard(talk, '1 queue.declare-ok')).toEqual({ 1: ['queue.declare-ok 1'] });
      other.say(1, 'basic.get', { queue: 'late.full', noAck: true });
      expect(await heard(other, '1 basic.get-ok')).toEqual({ 1: ['basic.get-ok 0'] });
      expect((await other.frame()).payload.readUInt32BE(8)).toBe(small);
      other.say(1, 'queue.delete', { queue: 'late.full' });
      await heard(other, '1 queue.delete-ok');
    });
  });
});
