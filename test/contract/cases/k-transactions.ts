import { array, longstr } from '../../../libs/dlx-broker/src/engine/message/index.js';
import { args, attempt, bodies, contract, send, soft, take, workAndDead, since4, type Case } from '../contract.js';
import type { Session, TestChannel } from '../driver.js';

const quorum = { 'x-queue-type': 'quorum' };
const partial = soft(406, '90.20', 'partial tx completion');

/** Publishes `a` in a transaction, does something in between, commits: what was returned, and what is in the queues. */
const meanwhile = (
  name: string,
  options: {
    readonly arrange: (channel: TestChannel) => Promise<void>;
    readonly publish: readonly [exchange: string, key: string];
    readonly between: (channel: TestChannel) => Promise<unknown>;
    readonly drain: readonly string[];
    readonly expected: unknown;
  },
): Case =>
  contract(
    name,
    async (session, channel) => {
      await options.arrange(channel);
      await channel.txSelect();
      await channel.publish(...options.publish, { body: 'a', mandatory: true });
      await options.between(channel);
      const failure = await attempt(channel.txCommit());
      await session.settle();
      const queues: string[][] = [];
      for (const queue of options.drain) queues.push(bodies(await session.drain(queue)));
      return { returned: bodies(channel.returns), queues, ...(failure !== 'ok' && { failure }) };
    },
    options.expected,
  );

const bound = async (channel: TestChannel): Promise<void> => {
  await channel.declareQueue('q');
  await channel.bindQueue('q', 'amq.direct', 'k');
};

/** A queue that refuses every publish. */
const refusing = (channel: TestChannel): Promise<unknown> =>
  channel.declareQueue('full', { arguments: args({ 'x-max-length': 0, 'x-overflow': 'reject-publish' }) });

/** Takes all of `queue`, then settles the tags in this order in one transaction. */
async function rejectInTransaction(channel: TestChannel, requeue: boolean, ...tags: readonly number[]): Promise<void> {
  await channel.txSelect();
  for (const tag of tags) await channel.reject(tag, requeue);
  await channel.txCommit();
}

/** Settles three deliveries in one commit: a reject, a nack, a reject. */
async function mixedInTransaction(channel: TestChannel, requeue: boolean): Promise<void> {
  await channel.txSelect();
  await channel.reject(3, requeue);
  await channel.nack(1, { requeue });
  await channel.reject(2, requeue);
  await channel.txCommit();
}

async function answerInTransaction(session: Session, channel: TestChannel, commit: boolean): Promise<unknown> {
  const replies = await channel.consume('amq.rabbitmq.reply-to', { noAck: true });
  await channel.declareQueue('q');
  await channel.publish('', 'q', { body: 'ask', properties: { replyTo: 'amq.rabbitmq.reply-to' } });
  const other = await session.channel();
  const asked = await other.get('q', { noAck: true });
  await other.txSelect();
  await other.publish('', asked?.properties.replyTo ?? '', { body: 'answer', mandatory: true });
  await session.settle();
  const before = [bodies(replies.messages), bodies(other.returns)];
  await (commit ? other.txCommit() : other.txRollback());
  await session.settle();
  return [...before, bodies(replies.messages), bodies(other.returns)];
}

/** Section K: what a transaction does at the publish, and what at the commit; since 4 rule W18. */
export const transactionCases: readonly Case[] = [
  meanwhile('rule K10: a binding removed before the commit changes nothing', {
    arrange: bound,
    publish: ['amq.direct', 'k'],
    between: (channel) => channel.unbindQueue('q', 'amq.direct', 'k'),
    drain: ['q'],
    expected: { returned: [], queues: [['a']] },
  }),
  meanwhile('rule K10: a binding made before the commit comes too late', {
    arrange: async (channel) => void (await channel.declareQueue('q')),
    publish: ['amq.direct', 'k'],
    between: (channel) => channel.bindQueue('q', 'amq.direct', 'k'),
    drain: ['q'],
    expected: { returned: ['a'], queues: [[]] },
  }),
  meanwhile('rule K10: an exchange deleted before the commit changes nothing', {
    arrange: async (channel) => {
      await channel.declareQueue('q');
      await channel.declareExchange('x', 'fanout');
      await channel.bindQueue('q', 'x');
    },
    publish: ['x', 'k'],
    between: (channel) => channel.deleteExchange('x'),
    drain: ['q'],
    expected: { returned: [], queues: [['a']] },
  }),
  meanwhile('rule K10: the alternate exchange is asked at the publish', {
    arrange: async (channel) => {
      await channel.declareQueue('main');
      await channel.declareQueue('rest');
      await channel.declareExchange('x', 'direct', { arguments: args({ 'alternate-exchange': 'amq.fanout' }) });
      await channel.bindQueue('rest', 'amq.fanout');
    },
    publish: ['x', 'k'],
    between: (channel) => channel.bindQueue('main', 'x', 'k'),
    drain: ['main', 'rest'],
    expected: { returned: [], queues: [[], ['a']] },
  }),
  meanwhile('rule K10: a queue deleted before the commit gets nothing, and the message is returned then', {
    arrange: bound,
    publish: ['amq.direct', 'k'],
    between: (channel) => channel.deleteQueue('q'),
    drain: [],
    expected: { returned: ['a'], queues: [] },
  }),
  meanwhile('rule K10: of two queues the one that is left gets it', {
    arrange: async (channel) => {
      for (const queue of ['q', 'r']) {
        await channel.declareQueue(queue);
        await channel.bindQueue(queue, 'amq.fanout');
      }
    },
    publish: ['amq.fanout', ''],
    between: (channel) => channel.deleteQueue('q'),
    drain: ['r'],
    expected: { returned: [], queues: [['a']] },
  }),
  meanwhile('rule K10: a queue declared again under its name gets it without a binding', {
    arrange: bound,
    publish: ['amq.direct', 'k'],
    between: async (channel) => {
      await channel.deleteQueue('q');
      await channel.declareQueue('q');
    },
    drain: ['q'],
    expected: { returned: [], queues: [['a']] },
  }),
  meanwhile('rule K10: the default exchange keeps the name until 4: a queue declared before the commit gets it', {
    arrange: async () => {},
    publish: ['', 'q'],
    between: (channel) => channel.declareQueue('q'),
    drain: ['q'],
    expected: since4({ returned: [], queues: [['a']] }, { returned: ['a'], queues: [[]] }),
  }),
  contract(
    'rule K10: so it does with the names of a CC header until 4',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.txSelect();
      const headers = new Map([['CC', array([longstr('late'), longstr('q')])]]);
      await channel.publish('', 'q', { body: 'a', properties: { headers } });
      await channel.declareQueue('late');
      await channel.txCommit();
      return [bodies(await session.drain('q')), bodies(await session.drain('late'))];
    },
    [['a'], since4(['a'], [])],
  ),
  contract(
    'rule K11: a direct reply leaves at the publish, and mandatory returns it at the commit; since 4 it waits for the commit',
    async (session, channel) => answerInTransaction(session, channel, true),
    since4([['answer'], [], ['answer'], ['answer']], [[], [], ['answer'], []]),
  ),
  contract(
    'rule K11: a rollback does not take a direct reply back until 4',
    async (session, channel) => answerInTransaction(session, channel, false),
    since4([['answer'], [], ['answer'], []], [[], [], [], []]),
  ),
  contract(
    'rule K12: rejections in a row are settled in the order of their tags',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'a', 'b', 'c');
      await take(channel, 'work', 3);
      await rejectInTransaction(channel, false, 3, 1, 2);
      return bodies(await session.drain('dead'));
    },
    ['a', 'b', 'c'],
  ),
  contract(
    'rule K12: returns to a quorum queue, too, by nack or reject',
    async (session, channel) => {
      await channel.declareQueue('q', { durable: true, arguments: args(quorum) });
      await send(channel, 'q', 'a', 'b', 'c');
      await take(channel, 'q', 3);
      await mixedInTransaction(channel, true);
      return bodies(await session.drain('q'));
    },
    since4(['a', 'b', 'c'], ['c', 'a', 'b']),
  ),
  contract(
    'rule K12: since 4 a reject and a nack without requeue are apart',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'a', 'b', 'c');
      await take(channel, 'work', 3);
      await mixedInTransaction(channel, false);
      return bodies(await session.drain('dead'));
    },
    since4(['a', 'b', 'c'], ['c', 'a', 'b']),
  ),
  contract(
    'rule K12: a settlement of another kind in between keeps them apart',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'a', 'b', 'c');
      await take(channel, 'work', 3);
      await channel.txSelect();
      await channel.reject(3, false);
      await channel.ack(2);
      await channel.reject(1, false);
      await channel.txCommit();
      return bodies(await session.drain('dead'));
    },
    ['c', 'a'],
  ),
  contract(
    'rule K13: before 406 closes the channel, the settlements have made room and a message has taken it',
    async (session, channel) => {
      await channel.declareQueue('q');
      await refusing(channel);
      await channel.qos(1);
      await send(channel, 'q', 'a', 'b');
      const consumer = await channel.consume('q');
      await session.settle();
      await channel.txSelect();
      await channel.ack(1);
      await send(channel, 'full', 'refused');
      const failure = await attempt(channel.txCommit());
      await session.settle();
      const left = (await session.drain('q')).map(({ body, redelivered }) => [body, redelivered]);
      return [failure, bodies(consumer.messages), left];
    },
    [partial, ['a', 'b'], [['b', true]]],
  ),
  contract(
    'rule K13: and dead letters have come in for the room the settlements left',
    async (session, channel) => {
      const toDead = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' };
      await refusing(channel);
      await channel.declareQueue('dead', { arguments: args({ 'x-max-length': 1, 'x-overflow': 'reject-publish' }) });
      await channel.declareQueue('work', { arguments: args(toDead) });
      await channel.qos(1);
      const consumer = await channel.consume('dead');
      await send(channel, 'dead', 'first');
      await session.settle();
      await send(channel, 'dead', 'second');
      await send(channel, 'work', 'dies');
      const [work] = await take(channel, 'work', 1);
      await channel.txSelect();
      await channel.ack(1);
      await channel.reject(work?.deliveryTag ?? 0, false);
      await send(channel, 'full', 'refused');
      const failure = await attempt(channel.txCommit());
      await session.settle();
      const left = (await session.drain('dead')).map(({ body, redelivered }) => [body, redelivered]);
      return [failure, bodies(consumer.messages), left];
    },
    [
      partial,
      ['first', 'second'],
      [
        ['second', true],
        ['dies', since4(false, true)],
      ],
    ],
  ),
];
