import {
  args,
  attempt,
  bodies,
  contract,
  hard,
  send,
  soft,
  take,
  since4,
  type Case,
  virtualTimeOnly,
} from '../contract.js';

const inExclusiveUse = soft(403, '60.20', "queue 'q' in vhost 'V' in exclusive use");

/** Section Q: consumers. */
export const consumerCases: readonly Case[] = [
  contract(
    'rule Q1: consuming needs the queue; a consumer without a tag gets one',
    async (session, channel) => {
      await channel.declareQueue('q');
      const { tag } = await channel.consume('q');
      return [session.plain(tag), tag.length, await attempt(channel.consume('missing'))];
    },
    ['amq.ctag-NAME', 31, soft(404, '60.20', "no queue 'missing' in vhost 'V'")],
  ),
  contract(
    'rule Q1: a tag is used once per channel; other channels may use it',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.consume('q', { tag: 'dup' });
      const other = await attempt((await session.channel()).consume('q', { tag: 'dup' }));
      return [other, await attempt(channel.consume('q', { tag: 'dup' }))];
    },
    ['ok', hard(530, '60.20', "attempt to reuse consumer tag 'dup'")],
  ),
  contract(
    'rule Q1: cancelling an unknown tag is fine, and a cancelled tag may be used again',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.cancel('unknown');
      await channel.consume('q', { tag: 'mine' });
      await channel.cancel('mine');
      const consumer = await channel.consume('q', { tag: 'mine' });
      await send(channel, 'q', 'one');
      await session.settle();
      return bodies(consumer.messages);
    },
    ['one'],
  ),
  contract(
    'rule Q1: cancelling leaves outstanding deliveries to be settled',
    async (session, channel) => {
      await channel.declareQueue('q');
      const consumer = await channel.consume('q');
      await send(channel, 'q', 'one');
      await session.settle();
      await channel.cancel(consumer.tag);
      await session.settle();
      const before = (await channel.declareQueue('q', { passive: true })).messageCount;
      return [before, await attempt(channel.ack(1))];
    },
    [0, 'ok'],
  ),
  contract(
    'rule Q2: an exclusive consumer wants to be alone',
    async (session, channel) => {
      await channel.declareQueue('q');
      const first = await channel.consume('q');
      const late = await attempt((await session.channel()).consume('q', { exclusive: true }));
      await channel.cancel(first.tag);
      await channel.consume('q', { exclusive: true });
      return [late, await attempt((await session.channel()).consume('q'))];
    },
    [inExclusiveUse, inExclusiveUse],
  ),
  contract(
    'rule Q3: the consumer of highest priority gets what it can take, the others the rest',
    async (session, channel) => {
      await channel.declareQueue('q');
      const other = await session.channel();
      await channel.qos(1);
      await other.qos(1);
      const low = await channel.consume('q', { arguments: args({ 'x-priority': -1 }) });
      const high = await other.consume('q', { arguments: args({ 'x-priority': 10 }) });
      for (const body of ['a', 'b']) {
        await send(channel, 'q', body);
        await session.settle();
      }
      await other.ack(1);
      await send(channel, 'q', 'c');
      await session.settle();
      return [bodies(high.messages), bodies(low.messages)];
    },
    [['a', 'c'], ['b']],
  ),
  contract(
    'rule Q3: a consumer priority is an integer',
    async (_session, channel) => {
      await channel.declareQueue('q');
      return attempt(channel.consume('q', { arguments: args({ 'x-priority': 'high' }) }));
    },
    soft(406, '60.20', "invalid arg 'x-priority' for queue 'q' in vhost 'V': \"expected integer, got longstr\""),
  ),
  contract(
    'rule Q4: qos without global holds for consumers started later, each by itself',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.declareQueue('r');
      const before = await channel.consume('q');
      await channel.qos(1);
      const after = await channel.consume('r');
      await send(channel, 'q', 'a', 'b');
      await send(channel, 'r', 'c', 'd');
      await session.settle();
      return [bodies(before.messages), bodies(after.messages)];
    },
    [['a', 'b'], ['c']],
  ),
  contract(
    'rule Q4: qos with global is one limit for the channel; 0 lifts it; basic.get is never limited',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.declareQueue('r');
      await channel.qos(2, { global: true });
      const first = await channel.consume('q');
      const second = await channel.consume('r');
      await send(channel, 'q', 'a', 'b');
      await session.settle();
      await send(channel, 'r', 'c', 'd');
      await session.settle();
      const full = [bodies(first.messages), bodies(second.messages)];
      const got = (await channel.get('r'))?.body;
      await channel.qos(0, { global: true });
      await session.settle();
      return [...full, got, bodies(second.messages)];
    },
    since4([['a', 'b'], [], 'c', ['d']], [['a', 'b'], ['c', 'd'], undefined, ['c', 'd']]), // rule W12
  ),
  contract(
    'rule Q4: a prefetch size is not implemented',
    async (_session, channel) => attempt(channel.qos(1, { prefetchSize: 5 })),
    hard(540, '60.10', 'prefetch_size!=0 (5)'),
  ),
  contract(
    'rule Q5: recover redelivers what is outstanding; without requeue it is not implemented',
    async (session, channel) => {
      await channel.declareQueue('q');
      const consumer = await channel.consume('q');
      await send(channel, 'q', 'a', 'b');
      await session.settle();
      await channel.recover(true);
      await session.settle();
      const seen = consumer.messages.map(({ body, redelivered, deliveryTag }) => [deliveryTag, body, redelivered]);
      return [seen, await attempt(channel.recover(false))];
    },
    [
      [
        [1, 'a', false],
        [2, 'b', false],
        [3, 'a', true],
        [4, 'b', true],
      ],
      hard(540, '60.110', 'requeue=false'),
    ],
  ),
  contract(
    'rule Q6: the consumer of a deleted queue is cancelled',
    async (session, channel) => {
      await channel.declareQueue('q');
      const consumer = await channel.consume('q');
      await (await session.channel()).deleteQueue('q');
      await session.settle();
      return consumer.cancelled;
    },
    true,
  ),
  contract(
    'rule Q7: delivery tags count over deliveries and gets, no-ack ones too; get tells how many are left',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.declareQueue('r');
      await send(channel, 'q', 'a', 'b', 'c');
      const first = await channel.get('q');
      const second = await channel.get('q', { noAck: true });
      const consumer = await channel.consume('r');
      await send(channel, 'r', 'd');
      await session.settle();
      const last = await channel.get('q');
      const empty = await channel.get('q');
      return [
        [first, second, last].map((message) => [message?.deliveryTag, message?.messageCount]),
        consumer.messages.map(({ deliveryTag }) => deliveryTag),
        empty,
      ];
    },
    [
      [
        [1, 2],
        [2, 1],
        [4, 0],
      ],
      [3],
      undefined,
    ],
  ),
  virtualTimeOnly(
    'the timeout is half an hour',
    contract(
      'rule Q8: a delivery that is not settled for half an hour closes the channel and is requeued, until 4 in a classic queue',
      async (session, channel) => {
        await channel.declareQueue('q');
        await channel.declareQueue('kept');
        const slow = await session.channel();
        await slow.consume('q');
        await send(channel, 'q', 'one');
        await session.elapse(1_799_000);
        const before = (await channel.declareQueue('q')).messageCount;
        await session.elapse(180_000); // brokers look once a minute
        return [before, (await channel.declareQueue('q')).messageCount, (await attempt(slow.get('kept'))) !== 'ok'];
      },
      since4([0, 1, true], [0, 0, false]),
    ),
  ),
  contract(
    'rule Q9: a soft error ends the channel’s consumers and requeues; the connection lives',
    async (session, channel) => {
      await channel.declareQueue('q');
      await send(channel, 'q', 'a', 'b');
      const failing = await session.channel();
      await take(failing, 'q', 1);
      await failing.consume('q', { tag: 'c' });
      await session.settle();
      await attempt(failing.ack(99));
      await session.settle();
      const { messageCount, consumerCount } = await channel.declareQueue('q', { passive: true });
      return [messageCount, consumerCount, await attempt(session.channel())];
    },
    [2, 0, 'ok'],
  ),
  contract(
    'rule Q9: a hard error ends the connection with all its channels',
    async (session, channel) => {
      await channel.declareQueue('q');
      await send(channel, 'q', 'a');
      const connection = await session.connect();
      const first = await connection.channel();
      const second = await connection.channel();
      await take(first, 'q', 1);
      await attempt(second.recover(false));
      await session.settle();
      return [(await attempt(first.get('q'))) !== 'ok', bodies(await session.drain('q'))];
    },
    [true, ['a']],
  ),
  ...(['classic', 'quorum'] as const).map((type) =>
    contract(
      `rule Q13: declare-ok counts the holders of unsettled messages as consumers in a quorum queue only (${type})`,
      async (session, channel) => {
        const count = async (): Promise<number> => {
          await session.settle();
          return (await channel.declareQueue('q', { passive: true })).consumerCount;
        };
        await channel.declareQueue('q', { durable: true, arguments: args({ 'x-queue-type': type }) });
        await send(channel, 'q', 'a', 'b', 'c', 'd');
        await channel.qos(2);
        const { tag } = await channel.consume('q');
        const seen = [await count()];
        await channel.cancel(tag);
        seen.push(await count());
        await channel.ack(1);
        seen.push(await count());
        await channel.reject(2, false);
        seen.push(await count());
        await take(channel, 'q', 2);
        seen.push(await count());
        await channel.nack(3, { requeue: true });
        seen.push(await count());
        await channel.get('q', { noAck: true });
        seen.push(await count());
        await channel.recover(true);
        return [...seen, await count()];
      },
      type === 'quorum' ? [1, 1, 1, 0, 2, 1, 1, 0] : [1, 0, 0, 0, 0, 0, 0, 0],
    ),
  ),
  ...(['classic', 'quorum'] as const).map((type) =>
    contract(
      `rule Q13: of a single active consumer and those that wait, a quorum queue counts one (${type})`,
      async (session, channel) => {
        const values = { 'x-queue-type': type, 'x-single-active-consumer': true };
        await channel.declareQueue('q', { durable: true, arguments: args(values) });
        await channel.consume('q');
        await channel.consume('q');
        await session.settle();
        return (await channel.declareQueue('q', { passive: true })).consumerCount;
      },
      type === 'quorum' ? 1 : 2,
    ),
  ),
  ...(['classic', 'quorum'] as const).map((type) =>
    contract(
      `rule Q14: x-stream-offset is not for a ${type} queue, also if a consumer uses it exclusively`,
      async (session, channel) => {
        await channel.declareQueue('q', { durable: true, arguments: args({ 'x-queue-type': type }) });
        await channel.consume('q', { exclusive: true });
        const other = await session.channel();
        return attempt(other.consume('q', { arguments: args({ 'x-stream-offset': 'first' }) }));
      },
      soft(406, '60.20', `invalid arg 'x-stream-offset' for queue 'q' in vhost 'V' of queue type rabbit_${type}_queue`),
    ),
  ),
];
