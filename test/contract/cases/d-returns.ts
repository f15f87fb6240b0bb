import { args, bodies, contract, send, take, since4, type Case } from '../contract.js';

const quorum = { 'x-queue-type': 'quorum' };
const durable = { durable: true };

/** Section D: where a quorum queue puts what comes back. */
export const returnCases: readonly Case[] = [
  ...(
    [
      [
        'with a delivery limit returned messages come first, in the order returned',
        { 'x-delivery-limit': 5 },
        ['b', 'a', 'c'],
      ],
      [
        'without a delivery limit returned messages go to the back, until 4',
        {},
        since4(['c', 'b', 'a'], ['b', 'a', 'c']),
      ],
    ] as const
  ).map(([what, limit, expected]) =>
    contract(
      `rule D5: ${what}`,
      async (session, channel) => {
        await channel.declareQueue('work', { ...durable, arguments: args({ ...quorum, ...limit }) });
        await send(channel, 'work', 'a', 'b', 'c');
        await session.settle();
        await take(channel, 'work', 2);
        await channel.reject(2, true);
        await session.settle();
        await channel.reject(1, true);
        return bodies(await session.drain('work'));
      },
      expected,
    ),
  ),
  ...[undefined, 5].map((limit) =>
    contract(
      `rule D5: what a lost channel gives back comes first, in order, ${limit === undefined ? 'also without' : 'with'} a limit`,
      async (session, channel) => {
        await channel.declareQueue('work', {
          ...durable,
          arguments: args({ ...quorum, ...(limit === undefined ? {} : { 'x-delivery-limit': limit }) }),
        });
        await send(channel, 'work', 'a', 'b', 'c', 'd');
        await session.settle();
        const passing = await session.channel();
        await passing.qos(3);
        await passing.consume('work');
        await session.settle();
        await passing.close();
        return bodies(await session.drain('work'));
      },
      ['a', 'b', 'c', 'd'],
    ),
  ),
  contract(
    'rule D5: without a limit recover puts to the back, until 4',
    async (session, channel) => {
      await channel.declareQueue('work', { ...durable, arguments: args(quorum) });
      await send(channel, 'work', 'a', 'b', 'c', 'd');
      await session.settle();
      await take(channel, 'work', 2);
      await channel.recover(true);
      return bodies(await session.drain('work'));
    },
    since4(['c', 'd', 'a', 'b'], ['a', 'b', 'c', 'd']),
  ),
];
