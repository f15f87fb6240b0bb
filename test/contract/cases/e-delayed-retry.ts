import { args, bodies, contract, death, deaths, header, send, workAndDead, since4, type Case } from '../contract.js';
import type { TestChannel } from '../driver.js';

const to = (queue: string) => ({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': queue });

/** A work queue and a delay queue that feed each other. */
async function loop(channel: TestChannel, delay: Parameters<typeof args>[0], work = {}): Promise<void> {
  await channel.declareQueue('work', { arguments: args({ ...to('delay'), ...work }) });
  await channel.declareQueue('delay', { arguments: args({ ...to('work'), ...delay }) });
}

/** Section E: the patterns of delayed retry. */
export const delayedRetryCases: readonly Case[] = [
  contract(
    'rule E1: reject, wait, come back: after two passes both counts are two, the first death stays',
    async (session, channel) => {
      await loop(channel, { 'x-message-ttl': 100 });
      const consumer = await channel.consume('work');
      await send(channel, 'work', 'one');
      await session.settle();
      await channel.reject(1, false);
      await session.elapse(180);
      await channel.reject(2, false);
      await session.elapse(180);
      const last = consumer.messages[2];
      return [
        last?.redelivered,
        last?.properties.expiration,
        header(session, last, 'x-death'),
        header(session, last, 'x-first-death-reason'),
        header(session, last, 'x-first-death-queue'),
      ];
    },
    [
      false,
      undefined,
      [
        'A',
        [
          death({ queue: 'delay', reason: 'expired', keys: ['delay'], count: 2 }),
          death({ queue: 'work', reason: 'rejected', keys: ['work'], count: 2 }),
        ],
      ],
      ['S', 'rejected'],
      ['S', 'work'],
    ],
  ),
  contract(
    'rule E2: several delay queues keep their own order; copied headers count on',
    async (session, channel) => {
      await channel.declareQueue('work');
      await channel.declareQueue('slow', { arguments: args({ ...to('work'), 'x-message-ttl': 250 }) });
      await channel.declareQueue('fast', { arguments: args({ ...to('work'), 'x-message-ttl': 60 }) });
      await send(channel, 'slow', 's1');
      await send(channel, 'fast', 'f1', 'f2');
      await session.elapse(350);
      const [first, ...others] = await session.drain('work');
      await channel.publish('', 'fast', { body: 'again', properties: first?.properties ?? {} });
      await session.elapse(120);
      return [first?.body, bodies(others), deaths((await session.drain('work'))[0])];
    },
    ['f1', ['f2', 's1'], [since4('fast/expired 2', 'fast/expired 1')]],
  ),
  contract(
    'rule E3: a long expiration at the head holds back the shorter ones behind it',
    async (session, channel) => {
      await workAndDead(channel);
      for (const [body, expiration] of [
        ['a', '500'],
        ['b', '50'],
        ['c', '200'],
      ] as const)
        await channel.publish('', 'work', { body, properties: { expiration } });
      await session.elapse(250);
      const early = bodies(await session.drain('dead'));
      await session.elapse(350);
      return [early, bodies(await session.drain('dead'))];
    },
    [[], ['a', 'b', 'c']],
  ),
  contract(
    'rule E4: max-length on the delay queue cuts the delay short',
    async (session, channel) => {
      await loop(channel, { 'x-message-ttl': 60_000, 'x-max-length': 1 });
      await send(channel, 'delay', 'a', 'b');
      const back = await session.drain('work');
      return [bodies(back), deaths(back[0])];
    },
    [['a'], ['delay/maxlen 1']],
  ),
  contract(
    'rule E5: when both queues only expire the message is dropped on its way back',
    async (session, channel) => {
      await loop(channel, { 'x-message-ttl': 60 }, { 'x-message-ttl': 60 });
      await send(channel, 'work', 'one');
      await session.elapse(400);
      return [bodies(await session.drain('work')), bodies(await session.drain('delay'))];
    },
    [[], []],
  ),
  contract(
    'rule E6: a delivery limit parks poison without any counting, and x-death shows only that',
    async (session, channel) => {
      await workAndDead(channel, { 'x-queue-type': 'quorum', 'x-delivery-limit': 1 }, { durable: true });
      await send(channel, 'work', 'poison');
      for (const tag of [1, 2]) {
        await session.settle();
        await channel.get('work');
        await channel.nack(tag, { requeue: true });
      }
      return deaths((await session.drain('dead'))[0]);
    },
    since4(['work/delivery_limit 1'], []), // rule W6: a nack does not count
  ),
];
