import { args, attempt, bodies, contract, send, soft, since4, type Case } from '../contract.js';

const quorum = { 'x-queue-type': 'quorum' };

const getRefused = (type: string) =>
  soft(
    405,
    '60.70',
    `cannot obtain access to locked queue 'q' in vhost 'V'. basic.get operations are not supported by ${type} queues with single active consumer`,
  );

/** What random programs showed first (docs/internals/fuzzing.md). */
export const fuzzFoundCases: readonly Case[] = [
  contract(
    'rule R3: a quorum queue with a single active consumer refuses basic.get',
    async (_, channel) => {
      const single = args({ ...quorum, 'x-single-active-consumer': true });
      await channel.declareQueue('q', { durable: true, arguments: single });
      return attempt(channel.get('q'));
    },
    since4(getRefused('quorum'), getRefused('<<"quorum">>')),
  ),
  contract(
    'rule D5: what a lost channel held comes first again in a quorum queue without a limit',
    async (session, channel) => {
      await channel.declareQueue('q', { durable: true, arguments: args(quorum) });
      await send(channel, 'q', 'a', 'b', 'c');
      const other = await session.channel();
      await session.settle();
      await other.get('q');
      await other.close();
      return bodies(await session.drain('q'));
    },
    ['a', 'b', 'c'],
  ),
  contract(
    'rule P5: when both ends of a binding are missing, the exchange is named',
    async (session, channel) => [
      await attempt(channel.bindQueue('none', 'nowhere')),
      await attempt((await session.channel()).bindExchange('none', 'nowhere')),
    ],
    [
      soft(404, '50.20', "no exchange 'nowhere' in vhost 'V'"),
      soft(404, '40.30', "no exchange 'nowhere' in vhost 'V'"),
    ],
  ),
  contract(
    'rule J4: a rejection makes room before its dead letter arrives, also in the same queue',
    async (session, channel) => {
      const values = { 'x-dead-letter-exchange': 'dlx', 'x-max-length': 1, 'x-overflow': 'reject-publish-dlx' };
      await channel.declareExchange('dlx', 'fanout');
      await channel.declareQueue('q', { arguments: args(values) });
      await channel.bindQueue('q', 'dlx');
      await channel.qos(1);
      const consumer = await channel.consume('q');
      await send(channel, 'q', 'a', 'b');
      await session.settle();
      await channel.reject(1, false);
      await session.settle();
      return [bodies(consumer.messages), bodies(await session.drain('q'))];
    },
    [['a', 'b'], ['a']],
  ),
  contract(
    'rule C6: what returns to a quorum queue is offered to its consumers before the limit is looked at',
    async (session, channel) => {
      const values = args({ ...quorum, 'x-max-length': 0 });
      await channel.declareQueue('q', { durable: true, arguments: values });
      const consumer = await channel.consume('q');
      await send(channel, 'q', 'a');
      await session.settle();
      await channel.reject(1, true);
      await session.settle();
      return bodies(consumer.messages);
    },
    ['a', 'a'],
  ),
  contract(
    'rule Q7: get-ok of a quorum queue still counts what expires behind the message fetched',
    async (session, channel) => {
      await channel.declareQueue('q', { durable: true, arguments: args(quorum) });
      await send(channel, 'q', 'lives');
      await channel.publish('', 'q', { body: 'dies', properties: { expiration: '60' } });
      await session.elapse(150);
      const got = await channel.get('q');
      return [got?.messageCount, bodies(await session.drain('q'))];
    },
    [1, []],
  ),
  ...(
    [
      ['lives, dies', 0],
      ['lives, dies, dies', 0],
      ['dies, lives, dies', 0],
      ['lives, dies, lives', 1],
    ] as const
  ).map(([order, left]) =>
    contract(
      `rule Q7: with no_ack it does not: ${order}`,
      async (session, channel) => {
        await channel.declareQueue('q', { durable: true, arguments: args(quorum) });
        for (const body of order.split(', ')) {
          await channel.publish('', 'q', { body, ...(body === 'dies' ? { properties: { expiration: '60' } } : {}) });
        }
        await session.elapse(150);
        const got = await channel.get('q', { noAck: true });
        return [got?.body, got?.messageCount];
      },
      ['lives', left],
    ),
  ),
  contract(
    'rule P4: auto-delete exchanges bound to one another go together',
    async (session, channel) => {
      for (const name of ['x', 'y']) await channel.declareExchange(name, 'fanout', { autoDelete: true });
      await channel.bindExchange('x', 'y');
      await channel.bindExchange('y', 'x');
      await channel.deleteExchange('x');
      return [
        await attempt(channel.declareExchange('x', 'fanout', { passive: true })),
        await attempt((await session.channel()).declareExchange('y', 'fanout', { passive: true })),
      ];
    },
    [soft(404, '40.10', "no exchange 'x' in vhost 'V'"), soft(404, '40.10', "no exchange 'y' in vhost 'V'")],
  ),
  contract(
    'rule P4: an auto-delete exchange bound to itself goes with that binding',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.declareExchange('x', 'fanout', { autoDelete: true });
      await channel.bindExchange('x', 'x');
      await channel.bindQueue('q', 'x');
      await channel.unbindQueue('q', 'x');
      const bound = await attempt(channel.declareExchange('x', 'fanout', { passive: true }));
      await channel.unbindExchange('x', 'x');
      return [bound, await attempt((await session.channel()).declareExchange('x', 'fanout', { passive: true }))];
    },
    ['ok', soft(404, '40.10', "no exchange 'x' in vhost 'V'")],
  ),
  contract(
    'rule J5: who was full takes the last turn of a quorum queue when it has room again',
    async (session, channel) => {
      await channel.declareQueue('q', { durable: true, arguments: args(quorum) });
      await channel.qos(1);
      const one = await channel.consume('q', { tag: 'one' });
      await channel.qos(2);
      const other = await channel.consume('q', { tag: 'other' });
      await session.settle();
      await send(channel, 'q', 'a');
      await session.settle();
      await send(channel, 'q', 'b');
      await session.settle();
      await channel.nack(1, { requeue: true });
      await session.settle();
      return [bodies(one.messages), bodies(other.messages)];
    },
    [['a'], ['b', 'a']],
  ),
  contract(
    'rule K12: queues deliver between a rejection and a return of one commit',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.qos(2);
      await send(channel, 'q', 'a', 'b', 'c');
      const consumer = await channel.consume('q');
      await session.settle();
      await channel.txSelect();
      await channel.reject(1, false);
      await channel.reject(2, true);
      await channel.txCommit();
      await session.settle();
      return bodies(consumer.messages);
    },
    ['a', 'b', 'c', 'b'],
  ),
  contract(
    'rule V8: a message that dies of the delivery limit makes room for one',
    async (session, channel) => {
      const values = args({ ...quorum, 'x-delivery-limit': 0 });
      await channel.declareQueue('q', { durable: true, arguments: values });
      await channel.qos(1);
      const consumer = await channel.consume('q');
      await send(channel, 'q', 'm0', 'm1', 'm2');
      await session.settle();
      await channel.reject(1, true);
      await session.settle();
      return bodies(consumer.messages);
    },
    ['m0', 'm1'],
  ),
  contract(
    'rule V9: basic.get fetches beside a consumer whose tag is the delivery tag',
    async (session, channel) => {
      await channel.declareQueue('q', { durable: true, arguments: args(quorum) });
      await channel.qos(1);
      const consumer = await channel.consume('q', { tag: '2' });
      await send(channel, 'q', 'a', 'b');
      await session.settle();
      const fetched = await channel.get('q');
      return [bodies(consumer.messages), fetched?.body];
    },
    [['a'], 'b'],
  ),
  contract(
    'rule V9: a consumer whose tag is the delivery tag of a fetched message has its whole prefetch',
    async (session, channel) => {
      await channel.declareQueue('q', { durable: true, arguments: args(quorum) });
      await send(channel, 'q', 'a', 'b');
      await session.settle();
      await channel.get('q');
      await channel.qos(1);
      const consumer = await channel.consume('q', { tag: '1' });
      await session.settle();
      return bodies(consumer.messages);
    },
    ['b'],
  ),
  contract(
    'rule G6: a policy gives the default exchange no alternate exchange',
    async (session, channel) => {
      const definition = { 'alternate-exchange': 'rest' };
      await session.setPolicy('all', { pattern: '.*', applyTo: 'exchanges', definition });
      await channel.declareExchange('rest', 'fanout');
      await channel.declareQueue('q');
      await channel.bindQueue('q', 'rest', '');
      await send(channel, 'nowhere', 'a');
      await session.settle();
      return bodies(await session.drain('q'));
    },
    [],
  ),
];
