import { args, bodies, contract, type Case } from '../contract.js';
import type { Session, TestChannel } from '../driver.js';
import { consumers } from './j-settlements.js';

/** One settlement of deliveries of a queue with priorities. Bodies are priorities and a letter. */
export const prioritySettlementCases: readonly Case[] = [
  contract(
    'rule J6: a nack without requeue goes by priority, the highest first',
    async (session, channel) => {
      await workWithPriorities(channel, '1a', '3b', '2c', '9d', '0e', '3f');
      const [one] = await consumers(session, channel, ['one', 0]);
      await channel.nack(0, { multiple: true, requeue: false });
      await session.settle();
      return [bodies(one?.messages ?? []), bodies(await session.drain('dead'))];
    },
    [
      ['3b', '9d', '3f', '2c', '1a', '0e'],
      ['3b', '9d', '3f', '2c', '1a', '0e'],
    ],
  ),
  contract(
    'rule J6: a nack without requeue goes by priority where the messages were delivered in another order',
    async (session, channel) => {
      await workWithPriorities(channel);
      await consumers(session, channel, ['one', 0]);
      await publishByPriority(session, channel, '1a', '3b', '2c', '9d', '0e', '3f');
      await channel.nack(0, { multiple: true, requeue: false });
      await session.settle();
      return bodies(await session.drain('dead'));
    },
    ['3b', '9d', '3f', '2c', '1a', '0e'],
  ),
  contract(
    'rule J6: of several consumers of a queue with priorities each by its tag, and then by priority',
    async (session, channel) => {
      await workWithPriorities(channel);
      await consumers(session, channel, ['z', 2], ['y', 2]);
      await publishByPriority(session, channel, '1a', '1b', '2c', '3d');
      await channel.nack(0, { multiple: true, requeue: false });
      await session.settle();
      return bodies(await session.drain('dead'));
    },
    ['3d', '1b', '2c', '1a'],
  ),
  contract(
    'rule J6: what was fetched from a queue with priorities goes one by one',
    async (session, channel) => {
      await workWithPriorities(channel);
      for (const body of ['1a', '3b', '2c']) {
        await publishByPriority(session, channel, body);
        await channel.get('q');
      }
      await channel.nack(0, { multiple: true, requeue: false });
      await session.settle();
      return bodies(await session.drain('dead'));
    },
    ['1a', '3b', '2c'],
  ),
  contract(
    'rule J6: a nack of several hundred messages goes by priority, too',
    async (session, channel) => {
      await workWithPriorities(channel);
      const [one] = await consumers(session, channel, ['one', 0]);
      const all = Array.from({ length: 300 }, (_, index) => `${index % 4}`);
      await Promise.all(all.map((body) => channel.publish('', 'q', { body, properties: { priority: Number(body) } })));
      await session.settle();
      await channel.nack(0, { multiple: true, requeue: false });
      await session.settle();
      return [one?.messages.length, bodies(await session.drain('dead')).join('')];
    },
    [300, ['3', '2', '1', '0'].map((priority) => priority.repeat(75)).join('')],
  ),
  ...([true, false] as const).map((multiple) =>
    contract(
      `rule J6: a commit that rejects goes by priority, ${multiple ? 'with one nack' : 'with a reject of each'}`,
      async (session, channel) => {
        await workWithPriorities(channel);
        await consumers(session, channel, ['one', 0]);
        await publishByPriority(session, channel, '1a', '3b', '2c');
        await channel.txSelect();
        if (multiple) await channel.nack(0, { multiple, requeue: false });
        else for (const tag of [1, 2, 3]) await channel.reject(tag, false);
        await channel.txCommit();
        await session.settle();
        return bodies(await session.drain('dead'));
      },
      ['3b', '2c', '1a'],
    ),
  ),
];

/** A queue `q` with priorities up to 3 whose dead letters go to `dead`, and messages that wait in it. */
async function workWithPriorities(channel: TestChannel, ...waiting: readonly string[]): Promise<void> {
  const values = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead', 'x-max-priority': 3 };
  await channel.declareQueue('dead');
  await channel.declareQueue('q', { arguments: args(values) });
  for (const body of waiting) await channel.publish('', 'q', { body, properties: { priority: Number(body[0]) } });
}

async function publishByPriority(session: Session, channel: TestChannel, ...all: readonly string[]): Promise<void> {
  for (const body of all) {
    await channel.publish('', 'q', { body, properties: { priority: Number(body[0]) } });
    await session.settle();
  }
}
