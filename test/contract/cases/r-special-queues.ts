import {
  args,
  attempt,
  bodies,
  contract,
  deaths,
  send,
  soft,
  take,
  workAndDead,
  type Case,
  virtualTimeOnly,
} from '../contract.js';
import type { TestChannel } from '../driver.js';

async function prioritised(channel: TestChannel, queue: string, ...priorities: readonly (number | undefined)[]) {
  for (const [index, priority] of priorities.entries())
    await channel.publish('', queue, {
      body: `${priority}${'abcdefgh'[index]}`,
      properties: priority === undefined ? {} : { priority },
    });
}

const single = { 'x-single-active-consumer': true };

/** Section R: priority queues and the single active consumer. */
export const specialQueueCases: readonly Case[] = [
  contract(
    'rule R1: higher first, in order within a priority; none counts as 0',
    async (session, channel) => {
      await channel.declareQueue('q', { arguments: args({ 'x-max-priority': 5 }) });
      await prioritised(channel, 'q', 1, undefined, 5, 0, 1, 5);
      return bodies(await session.drain('q'));
    },
    ['5c', '5f', '1a', '1e', 'undefinedb', '0d'],
  ),
  contract(
    'rule R1: above the maximum counts as the maximum, and is delivered as sent',
    async (session, channel) => {
      await channel.declareQueue('q', { arguments: args({ 'x-max-priority': 3 }) });
      await prioritised(channel, 'q', 3, 200, 3);
      return (await session.drain('q')).map(({ body, properties }) => [body, properties.priority]);
    },
    [
      ['3a', 3],
      ['200b', 200],
      ['3c', 3],
    ],
  ),
  contract(
    'rule R1: a queue without x-max-priority does not order',
    async (session, channel) => {
      await channel.declareQueue('q');
      await prioritised(channel, 'q', 1, 9, 5);
      return bodies(await session.drain('q'));
    },
    ['1a', '9b', '5c'],
  ),
  contract(
    'rule R1: a requeued message keeps its place in its priority',
    async (session, channel) => {
      await channel.declareQueue('q', { arguments: args({ 'x-max-priority': 5 }) });
      await prioritised(channel, 'q', 1, 5, 1, 5);
      await take(channel, 'q', 3);
      await channel.nack(3, { multiple: true, requeue: true });
      return bodies(await session.drain('q'));
    },
    ['5b', '5d', '1a', '1c'],
  ),
  contract(
    'rule R2: an expired low-priority message waits behind a live high one, and dies once that left',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-priority': 5 });
      await channel.publish('', 'work', { body: 'high', properties: { priority: 5 } });
      await channel.publish('', 'work', { body: 'low', properties: { priority: 1, expiration: '60' } });
      await session.elapse(200);
      const early = bodies(await session.drain('dead'));
      const got = (await channel.get('work', { noAck: true }))?.body;
      await session.elapse(50);
      return [early, got, bodies(await session.drain('dead'))];
    },
    [[], 'high', ['low']],
  ),
  contract(
    'rule B7: a higher priority with TTL that arrives above live lower ones expires in time',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-priority': 5 });
      await channel.publish('', 'work', { body: 'low', properties: { priority: 1 } });
      await channel.publish('', 'work', { body: 'high', properties: { priority: 5, expiration: '60' } });
      await session.elapse(200);
      return bodies(await session.drain('dead'));
    },
    ['high'],
  ),
  contract(
    'rule R3: only the first consumer gets messages, within its prefetch',
    async (session, channel) => {
      await channel.declareQueue('q', { arguments: args(single) });
      const other = await session.channel();
      await channel.qos(2);
      const first = await channel.consume('q');
      const second = await other.consume('q');
      await send(channel, 'q', 'a', 'b', 'c');
      await session.settle();
      return [bodies(first.messages), bodies(second.messages)];
    },
    [['a', 'b'], []],
  ),
  contract(
    'rule R3: when its channel goes the next in line gets its messages first, redelivered',
    async (session, channel) => {
      await channel.declareQueue('q', { arguments: args(single) });
      const other = await session.channel();
      await channel.qos(2);
      await channel.consume('q');
      const second = await other.consume('q');
      await send(channel, 'q', 'a', 'b', 'c');
      await session.settle();
      await channel.close();
      await session.settle();
      return second.messages.map(({ body, redelivered }) => `${body} ${redelivered}`);
    },
    ['a true', 'b true', 'c false'],
  ),
  contract(
    'rule R3: after a cancel the next in line takes over',
    async (session, channel) => {
      await channel.declareQueue('q', { arguments: args(single) });
      const first = await channel.consume('q');
      const second = await (await session.channel()).consume('q');
      await channel.cancel(first.tag);
      await send(channel, 'q', 'a');
      await session.settle();
      return bodies(second.messages);
    },
    ['a'],
  ),
  virtualTimeOnly(
    'rule V3: a real broker loses its queue over it',
    contract(
      'rule R3: after a cancel while messages are ready the next in line gets them at once',
      async (_session, channel) => {
        await channel.declareQueue('q', { arguments: args(single) });
        await channel.qos(1);
        const first = await channel.consume('q');
        const second = await channel.consume('q');
        await send(channel, 'q', 'a', 'b');
        await channel.cancel(first.tag);
        return [bodies(first.messages), bodies(second.messages)];
      },
      [['a'], ['b']],
    ),
  ),
  contract(
    'rule R3: a quorum queue takes an exclusive consumer there, and others beside it',
    async (_session, channel) => {
      await channel.declareQueue('q', { durable: true, arguments: args({ ...single, 'x-queue-type': 'quorum' }) });
      await channel.consume('q', { exclusive: true });
      return [await attempt(channel.consume('q')), await attempt(channel.consume('q', { exclusive: true }))];
    },
    ['ok', 'ok'],
  ),
  contract(
    'rule R3: an exclusive consumer is refused there',
    async (_session, channel) => {
      await channel.declareQueue('q', { arguments: args(single) });
      return attempt(channel.consume('q', { exclusive: true }));
    },
    soft(403, '60.20', "queue 'q' in vhost 'V' in exclusive use"),
  ),
  contract(
    'rule R3: rejects dead-letter as usual',
    async (session, channel) => {
      await workAndDead(channel, single);
      await channel.consume('work');
      await send(channel, 'work', 'a');
      await session.settle();
      await channel.reject(1, false);
      return deaths((await session.drain('dead'))[0]);
    },
    ['work/rejected 1'],
  ),
];
