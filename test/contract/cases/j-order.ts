import { bodies, contract, send, take, workAndDead, args, type Case } from '../contract.js';

/** Section J: order, requeueing, prefetch. */
export const orderCases: readonly Case[] = [
  contract(
    'rule J1: individually rejected messages arrive in the order of the rejects',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'a', 'b', 'c');
      await take(channel, 'work', 3);
      for (const tag of [2, 3, 1]) await channel.reject(tag, false);
      return bodies(await session.drain('dead'));
    },
    ['b', 'c', 'a'],
  ),
  contract(
    'rule J1: nack multiple dead-letters in the order of the delivery tags',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'a', 'b', 'c', 'd');
      await take(channel, 'work', 4);
      await channel.nack(3, { multiple: true, requeue: false });
      return bodies(await session.drain('dead'));
    },
    ['a', 'b', 'c'],
  ),
  contract(
    'rule J1: expiry and drop-head go in queue order',
    async (session, channel) => {
      await workAndDead(channel, { 'x-message-ttl': 200, 'x-max-length': 3 });
      await send(channel, 'work', 'a', 'b', 'c', 'd', 'e');
      await session.elapse(300);
      return bodies(await session.drain('dead'));
    },
    ['a', 'b', 'c', 'd', 'e'],
  ),
  contract(
    'rule J2: requeued messages take their old places whatever the order, and are redelivered from then on',
    async (session, channel) => {
      await channel.declareQueue('q');
      await send(channel, 'q', 'a', 'b', 'c', 'd');
      await take(channel, 'q', 3);
      for (const tag of [3, 1, 2]) await channel.reject(tag, true);
      return (await session.drain('q')).map(({ body, redelivered }) => `${body} ${redelivered}`);
    },
    ['a true', 'b true', 'c true', 'd false'],
  ),
  contract(
    'rule J2: the loss of a channel and of a connection requeue in place',
    async (session, channel) => {
      await channel.declareQueue('q');
      await send(channel, 'q', 'a', 'b', 'c');
      const connection = await session.connect();
      const other = await connection.channel();
      const passing = await session.channel();
      await take(passing, 'q', 1);
      await take(other, 'q', 1);
      await passing.close();
      await connection.close();
      return (await session.drain('q')).map(({ body, redelivered }) => `${body} ${redelivered}`);
    },
    ['a true', 'b true', 'c false'],
  ),
  contract(
    'rule J2: basic.recover puts everything outstanding back',
    async (session, channel) => {
      await channel.declareQueue('q');
      await send(channel, 'q', 'a', 'b', 'c');
      await take(channel, 'q', 2);
      await channel.recover(true);
      return bodies(await session.drain('q'));
    },
    ['a', 'b', 'c'],
  ),
  contract(
    'rule J4: a full prefetch waits for a settlement, and rejecting settles',
    async (session, channel) => {
      await workAndDead(channel);
      await channel.qos(1);
      const consumer = await channel.consume('work');
      await send(channel, 'work', 'a', 'b', 'c');
      await session.settle();
      const seen = [bodies(consumer.messages)];
      await channel.reject(1, false);
      await session.settle();
      seen.push(bodies(consumer.messages));
      await channel.ack(2);
      await session.settle();
      return [...seen, bodies(consumer.messages)];
    },
    [['a'], ['a', 'b'], ['a', 'b', 'c']],
  ),
  contract(
    'rule J4: a requeued message may come back to the same consumer at once',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.qos(1);
      const consumer = await channel.consume('q');
      await send(channel, 'q', 'a', 'b');
      await session.settle();
      await channel.reject(1, true);
      await session.settle();
      return consumer.messages.map(({ body, redelivered, deliveryTag }) => [deliveryTag, body, redelivered]);
    },
    [
      [1, 'a', false],
      [2, 'a', true],
    ],
  ),
  contract(
    'rule J5: ready consumers take turns',
    async (session, channel) => {
      await channel.declareQueue('q');
      const first = await channel.consume('q');
      const second = await channel.consume('q');
      for (const body of ['1', '2', '3', '4', '5', '6']) {
        await send(channel, 'q', body);
        await session.settle();
      }
      return [bodies(first.messages), bodies(second.messages)];
    },
    [
      ['1', '3', '5'],
      ['2', '4', '6'],
    ],
  ),
  contract(
    'rule J2: priorities keep the place within the priority after a requeue',
    async (session, channel) => {
      await channel.declareQueue('q', { arguments: args({ 'x-max-priority': 5 }) });
      for (const [body, priority] of [
        ['a1', 1],
        ['a5', 5],
        ['b1', 1],
        ['b5', 5],
      ] as const)
        await channel.publish('', 'q', { body, properties: { priority } });
      await take(channel, 'q', 3);
      for (const tag of [3, 2, 1]) await channel.reject(tag, true);
      return bodies(await session.drain('q'));
    },
    ['a5', 'b5', 'a1', 'b1'],
  ),
];
