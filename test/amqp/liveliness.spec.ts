import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Brokers } from './brokers.js';
import { Talk } from './talk.js';

const brokers = new Brokers({ limits: { heartbeat: 1 } });

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
