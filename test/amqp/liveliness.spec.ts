import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { writeFrame } from '../contract/wire/frames.js';
import { writeMethod } from '../contract/wire/methods.js';
import { LinkedServer, settled } from '../harnesses/amqp-link.js';
import { Brokers } from './brokers.js';
import { protocolHeader, Talk } from './talk.js';

const brokers = new Brokers({ limits: { heartbeat: 1, closing: 200 } });

it('any traffic counts as a sign of life', async () => {
  const talk = await Talk.open(brokers.ours.wire, {}, { heartbeat: 1 });
  let ended = false;
  void talk.peer.ended.then(() => (ended = true));
  for (let count = 0; count < 8; count++) {
    talk.say(1, 'basic.qos', { prefetchCount: 1 });
    await wait(500);
  }
  expect(ended).toBe(false);
  talk.drop();
});

it('without heartbeats neither side sends any, and no client is dropped', async () => {
  const talk = await Talk.open(brokers.ours.wire, {}, { heartbeat: 0 });
  const before = Buffer.concat(talk.peer.received).length;
  let ended = false;
  void talk.peer.ended.then(() => (ended = true));
  await wait(4_000);
  expect([ended, Buffer.concat(talk.peer.received).length - before]).toEqual([false, 0]);
  talk.drop();
});

describe('a client that was dropped gets a reset, so that its next write fails (rule T10)', () => {
  it.concurrent.each<[string, () => Promise<string[]>]>([
    [
      'after missed heartbeats',
      () => brokers.each(async (wire) => (await Talk.open(wire, {}, { heartbeat: 1 })).end()),
    ],
    [
      'after a refused login',
      () =>
        brokers.each(async (wire) => {
          const talk = await Talk.begin(wire);
          await talk.login({ response: '\0guest\0wrong' });
          return talk.end();
        }),
    ],
    [
      'after bytes that are no frame',
      () =>
        brokers.each(async (wire) => {
          const talk = await Talk.open(wire);
          talk.peer.send(Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]));
          return talk.end();
        }),
    ],
  ])('%s', async (_, ends) => {
    expect(await ends()).toEqual(brokers.same('ECONNRESET'));
  });

  it('when it does not answer a close', async () => {
    const talk = await Talk.open(brokers.ours.wire);
    talk.say(1, 'channel.open');
    expect(await talk.end()).toBe('ECONNRESET');
  });
});

it('connection.close has to be answered within 30 s (rule T10)', async () => {
  const server = new LinkedServer();
  const link = server.link();
  link.attach({ received: () => undefined, drained: () => undefined, closed: () => undefined });
  const say = (channel: number, name: string, args = {}): Buffer => writeFrame(1, channel, writeMethod(name, args));
  const steps = [
    protocolHeader,
    say(0, 'connection.start-ok', { mechanism: 'PLAIN', response: '\0guest\0guest', locale: 'en_US' }),
    say(0, 'connection.tune-ok', { channelMax: 2047, frameMax: 131_072, heartbeat: 0 }),
    say(0, 'connection.open', { vhost: '/' }),
    say(1, 'channel.open'),
    say(1, 'channel.open'),
  ];
  for (const bytes of steps) link.write(bytes);
  await settled(link);
  const [connection] = server.connections;
  expect(connection?.shownState).toBe('closing');
  server.clock.advance(29_999);
  expect(link.server.destroyed).toBe(false);
  server.clock.advance(1);
  expect(link.server.destroyed).toBe(true);
});
