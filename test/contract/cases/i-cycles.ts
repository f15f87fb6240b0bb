import { array, int64, longstr, table } from '../../../libs/dlx-broker/src/engine/message/index.js';
import { args, bodies, contract, deaths, send, absent, since4, type Case } from '../contract.js';
import type { TestChannel } from '../driver.js';

const brief = { 'x-message-ttl': 40 };

/** Queues that dead-letter to the next one by the default exchange. */
async function chain(
  channel: TestChannel,
  links: readonly (readonly [queue: string, next: string, values: Parameters<typeof args>[0]])[],
): Promise<void> {
  for (const [queue, next, values] of links)
    await channel.declareQueue(queue, {
      arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': next, ...values }),
    });
}

/** Section I: cycles, and which of them end. */
export const cycleCases: readonly Case[] = [
  contract(
    'rule I1, rule I4: (d) rejecting into the same queue goes on for ever',
    async (session, channel) => {
      await chain(channel, [['work', 'work', {}]]);
      const consumer = await channel.consume('work');
      await send(channel, 'work', 'one');
      for (const tag of [1, 2, 3, 4]) {
        await session.settle();
        await channel.reject(tag, false);
      }
      await session.settle();
      return deaths(consumer.messages[4]);
    },
    ['work/rejected 4'],
  ),
  contract(
    'rule I2, rule I4: (a) a queue that expires into itself drops the message',
    async (session, channel) => {
      await chain(channel, [['work', 'work', brief]]);
      await send(channel, 'work', 'one');
      await session.elapse(150);
      return (await session.drain('work')).length;
    },
    0,
  ),
  contract(
    'rule I2, rule I4: (b) A expires to B, B expires to A: dropped on the way back',
    async (session, channel) => {
      await chain(channel, [
        ['a', 'b', { 'x-message-ttl': 40 }],
        ['b', 'a', { 'x-message-ttl': 400 }],
      ]);
      await send(channel, 'a', 'one');
      await session.elapse(100);
      const inB = (await channel.declareQueue('b', { passive: true })).messageCount;
      await session.elapse(500);
      return [inB, (await session.drain('a')).length, (await session.drain('b')).length];
    },
    [1, 0, 0],
  ),
  contract(
    'rule I4: (c) reject, delay, reject ... goes on for ever and the counts grow',
    async (session, channel) => {
      await chain(channel, [
        ['work', 'delay', {}],
        ['delay', 'work', brief],
      ]);
      const consumer = await channel.consume('work');
      await send(channel, 'work', 'one');
      await session.settle();
      for (const tag of [1, 2, 3]) {
        await channel.reject(tag, false);
        await session.elapse(110);
      }
      return deaths(consumer.messages[3]);
    },
    ['delay/expired 3', 'work/rejected 3'],
  ),
  contract(
    'rule I4: (e) maxlen into itself, or around by another queue, is dropped',
    async (session, channel) => {
      await chain(channel, [
        ['self', 'self', { 'x-max-length': 1 }],
        ['a', 'b', { 'x-max-length': 0 }],
        ['b', 'a', { 'x-max-length': 0 }],
      ]);
      await send(channel, 'self', 'one', 'two');
      await send(channel, 'a', 'three');
      return [bodies(await session.drain('self')), bodies(await session.drain('a')), bodies(await session.drain('b'))];
    },
    [['two'], [], []],
  ),
  contract(
    'rule I4: (f) rejected, back again, then expired: the newest entry is expired, so it is dropped',
    async (session, channel) => {
      await chain(channel, [['work', 'work', { 'x-message-ttl': 300 }]]);
      await send(channel, 'work', 'one');
      await channel.get('work');
      await channel.reject(1, false);
      await session.settle();
      const back = (await channel.declareQueue('work', { passive: true })).messageCount;
      await session.elapse(400);
      return [back, (await session.drain('work')).length];
    },
    [1, 0],
  ),
  contract(
    'rule I3, rule I4: (g) only the cycling target is left out, the other one gets the message',
    async (session, channel) => {
      await channel.declareExchange('both', 'fanout');
      await channel.declareQueue('other');
      await channel.declareQueue('work', { arguments: args({ 'x-dead-letter-exchange': 'both', ...brief }) });
      for (const queue of ['work', 'other']) await channel.bindQueue(queue, 'both');
      await send(channel, 'work', 'one');
      await session.elapse(150);
      return [bodies(await session.drain('work')), (await session.drain('other')).map(deaths)];
    },
    [[], [['work/expired 1']]],
  ),
  contract(
    'rule I5: a rejection older than the automatic cycle does not save the message',
    async (session, channel) => {
      await channel.declareExchange('round', 'fanout');
      await channel.declareQueue('log');
      await chain(channel, [
        ['work', 'a', {}],
        ['b', 'a', brief],
      ]);
      await channel.declareQueue('a', { arguments: args({ 'x-dead-letter-exchange': 'round', ...brief }) });
      for (const queue of ['b', 'log']) await channel.bindQueue(queue, 'round');
      await send(channel, 'work', 'one');
      await channel.get('work');
      await channel.reject(1, false);
      await session.elapse(600);
      const { messageCount } = await channel.declareQueue('log', { passive: true });
      return messageCount === 1 ? 'one round' : 'more rounds';
    },
    'one round',
  ),
  contract(
    'rule I6: a forged history takes part in the check',
    async (session, channel) => {
      await channel.declareQueue('target');
      await chain(channel, [['work', 'target', { 'x-message-ttl': 0 }]]);
      const forged = (reason: string) =>
        array([table(args({ queue: 'target', reason: longstr(reason), count: int64(1) }))]);
      for (const reason of ['expired', 'rejected'])
        await channel.publish('', 'work', {
          body: reason,
          properties: { headers: args({ 'x-death': forged(reason) }) },
        });
      return bodies(await session.drain('target'));
    },
    [since4(absent, 'expired'), 'rejected'], // rule W3
  ),
  contract(
    'rule I7: what a client publishes is never checked',
    async (session, channel) => {
      await channel.declareQueue('target');
      const forged = array([table(args({ queue: 'target', reason: 'expired', count: int64(1) }))]);
      await channel.publish('', 'target', { body: 'one', properties: { headers: args({ 'x-death': forged }) } });
      return bodies(await session.drain('target'));
    },
    ['one'],
  ),
  contract(
    'rule V2: a ladder of two wait queues brings a message back in every round',
    async (session, channel) => {
      const to = (queue: string) => ({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': queue });
      await channel.declareQueue('work', { arguments: args(to('wait.1')) });
      await channel.declareQueue('wait.1', { arguments: args({ ...to('wait.2'), 'x-message-ttl': 60 }) });
      await channel.declareQueue('wait.2', { arguments: args({ ...to('work'), 'x-message-ttl': 60 }) });
      await send(channel, 'work', 'm');
      const seen: unknown[] = [];
      for (let round = 0; round < 4; round += 1) {
        await session.elapse(300);
        const message = await channel.get('work');
        seen.push(message?.body ?? 'lost');
        if (message !== undefined) await channel.reject(message.deliveryTag, false);
      }
      return seen;
    },
    ['m', 'm', 'm', 'm'],
  ),
];
