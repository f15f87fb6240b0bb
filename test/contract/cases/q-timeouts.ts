import { absent, args, attempt, bodies, contract, send, since4, soft, type Case } from '../contract.js';
import type { Session, TestChannel, TestConsumer } from '../driver.js';

/** A time of a consumer, and a wait after which it is over, in milliseconds. */
const limit = 600;
const over = 1_000;

const quorum = { 'x-queue-type': 'quorum' };

/** A quorum queue `q` with these messages. */
async function filled(channel: TestChannel, values: Parameters<typeof args>[0], ...texts: string[]): Promise<void> {
  await channel.declareQueue('q', { durable: true, arguments: args({ ...quorum, ...values }) });
  await send(channel, 'q', ...texts);
}

/** A consumer of `q` with a time of its own. */
async function consumer(session: Session, channel: TestChannel, tag = 'c', time = limit): Promise<TestConsumer> {
  const started = await channel.consume('q', { tag, arguments: args({ 'x-consumer-timeout': time }) });
  await session.settle();
  return started;
}

const counts = async (channel: TestChannel): Promise<readonly number[]> => {
  const { messageCount, consumerCount } = await channel.declareQueue('q', { passive: true });
  return [messageCount, consumerCount];
};

const closed = soft(
  406,
  '0.0',
  'delivery acknowledgement on channel 1 timed out. Timeout value used: -1 ms. ' +
    'This timeout value can be configured, see consumers doc guide to learn more',
);

/** Section Q: consumer timeouts, which are those of quorum queues since RabbitMQ 4.3 (rule W19). */
export const timeoutCases: readonly Case[] = [
  contract(
    'rule Q8: since 4 a delivery that is not settled in time returns, and its consumer is cancelled but stays',
    async (session, channel) => {
      await filled(channel, { 'x-delivery-limit': 1 }, 'a', 'b');
      const slow = await session.channel();
      const started = await consumer(session, slow);
      await session.elapse(over);
      const [first] = await session.drain('q');
      return [
        started.cancelled,
        bodies(started.messages),
        await counts(channel),
        first && [first.body, first.redelivered, [...(first.properties.headers?.keys() ?? [])]],
      ];
    },
    since4([false, ['a', 'b'], [0, 1], undefined], [true, ['a', 'b'], [0, 1], ['a', true, ['x-acquired-count']]]),
  ),
  ...(
    [
      ['an ack', (channel) => channel.ack(1), ['a', 'b'], ['a', 'a']],
      ['a reject', (channel) => channel.reject(1, false), ['a', 'b'], ['a', 'a']],
      ['a return', (channel) => channel.nack(1, { requeue: true }), ['a', 'b'], ['a', 'a']],
      ['a recover', (channel) => channel.recover(true), ['a', 'b'], ['a', 'a']],
    ] as const satisfies readonly (readonly [string, (channel: TestChannel) => Promise<void>, string[], string[]])[]
  ).map(([what, settle, before, now]) =>
    contract(
      `rule Q8: ${what} that comes too late changes nothing in the queue since 4, and the consumer is served again`,
      async (session, channel) => {
        await filled(channel, {}, 'a', 'b');
        const slow = await session.channel();
        await slow.qos(1);
        const started = await consumer(session, slow);
        await session.elapse(over);
        const during = bodies(started.messages);
        await settle(slow);
        await session.settle();
        return [during, bodies(started.messages), await counts(channel)];
      },
      [['a'], since4(before, now), since4([what === 'a return' || what === 'a recover' ? 1 : 0, 1], [1, 1])],
    ),
  ),
  contract(
    'rule Q8: since 4 the consumer is served again when it has settled all that were late',
    async (session, channel) => {
      await filled(channel, {}, 'a', 'b');
      const slow = await session.channel();
      const started = await consumer(session, slow);
      await session.elapse(over);
      await slow.ack(1);
      await session.settle();
      const one = started.messages.length;
      await slow.ack(2);
      await session.settle();
      return [one, bodies(started.messages)];
    },
    since4([2, ['a', 'b']], [2, ['a', 'b', 'a', 'b']]),
  ),
  contract(
    'rule Q8: each delivery has a time of its own since 4, and while one is late the consumer gets no other',
    async (session, channel) => {
      await filled(channel, {}, 'a');
      const slow = await session.channel();
      const started = await consumer(session, slow, 'c', 2_000);
      await session.elapse(1_000);
      await send(channel, 'q', 'b');
      await session.elapse(1_300);
      await send(channel, 'q', 'c');
      await session.settle();
      return [bodies(started.messages), await counts(channel), bodies(await session.drain('q'))];
    },
    since4(
      [['a', 'b', 'c'], [0, 1], []],
      [
        ['a', 'b'],
        [2, 1],
        ['a', 'c'],
      ],
    ),
  ),
  contract(
    'rule Q8: since 4 late deliveries go to other consumers, by the order of the subscriptions',
    async (session, channel) => {
      await filled(channel, {});
      const slow = await session.channel();
      await consumer(session, slow, 'z');
      await consumer(session, slow, 'a');
      await send(channel, 'q', 'm1', 'm2', 'm3', 'm4');
      await session.elapse(over);
      const other = await session.channel();
      const started = await other.consume('q', { tag: 'other' });
      await session.settle();
      return bodies(started.messages);
    },
    since4([], ['m1', 'm3', 'm2', 'm4']),
  ),
  contract(
    'rule Q8: since 4 a fetched message that is late closes the channel',
    async (session, channel) => {
      await filled(channel, { 'x-consumer-timeout': limit }, 'a');
      const slow = await (await session.connect()).channel();
      await slow.get('q');
      await session.elapse(over);
      return [await attempt(slow.qos(1)), await counts(channel)];
    },
    since4(['ok', [0, 1]], [closed, [1, 0]]),
  ),
  contract(
    'rule Q8: since 4 a late delivery of a consumer that the client cancelled closes the channel',
    async (session, channel) => {
      await filled(channel, {}, 'a');
      const slow = await (await session.connect()).channel();
      await consumer(session, slow);
      await slow.cancel('c');
      await session.elapse(over);
      return [await attempt(slow.qos(1)), await counts(channel)];
    },
    since4(['ok', [0, 1]], [closed, [1, 0]]),
  ),
  ...(
    [
      ['shorter', 60_000, limit, true],
      ['longer', limit, 60_000, false],
    ] as const
  ).map(([what, ofQueue, ofConsumer, isLate]) =>
    contract(
      `rule Q8: since 4 the time of a consumer comes before that of its queue, a ${what} one`,
      async (session, channel) => {
        await filled(channel, { 'x-consumer-timeout': ofQueue }, 'a');
        const started = await consumer(session, await session.channel(), 'c', ofConsumer);
        await session.elapse(over);
        return started.cancelled;
      },
      since4(false, isLate),
    ),
  ),
  contract(
    'rule Q8: the time is that of the start of the consumer since 4; a later policy does not change it',
    async (session, channel) => {
      await filled(channel, {}, 'a');
      const slow = await session.channel();
      const started = await slow.consume('q', { tag: 'c' });
      await attempt(session.setPolicy('late', { pattern: 'q', definition: { 'consumer-timeout': limit } }));
      await session.elapse(200);
      await send(channel, 'q', 'b');
      const next = await slow.consume('q', { tag: 'next' });
      await send(channel, 'q', 'c', 'd');
      await session.elapse(over);
      return [started.cancelled, next.cancelled];
    },
    [false, since4(false, true)],
  ),
  contract(
    'rule Q8: since 4 a late single active consumer gives its place to the next one',
    async (session, channel) => {
      await filled(channel, { 'x-single-active-consumer': true }, 'a');
      const slow = await session.channel();
      const first = await consumer(session, slow, 'first');
      const other = await session.channel();
      const second = await other.consume('q', { tag: 'second' });
      await session.elapse(over);
      await slow.ack(1);
      await send(channel, 'q', 'b');
      await session.settle();
      return [bodies(first.messages), bodies(second.messages)];
    },
    since4([['a', 'b'], []], [['a'], ['a', 'b']]),
  ),
  contract(
    'rule Q8: since 4 what a lost channel had too long does not return again',
    async (session, channel) => {
      await filled(channel, {}, 'a', 'b');
      const slow = await session.channel();
      await consumer(session, slow);
      await session.elapse(over);
      await slow.close();
      await session.settle();
      return (await session.drain('q')).map(({ body, properties }) => [
        body,
        properties.headers?.get('x-delivery-count')?.value === undefined ? absent.description : 'failed',
      ]);
    },
    since4(
      [
        ['a', 'failed'],
        ['b', 'failed'],
      ],
      [
        ['a', absent.description],
        ['b', absent.description],
      ],
    ),
  ),
  ...(
    [
      ['commit', ['a', 'a']],
      ['rollback', ['a']],
    ] as const
  ).map(([end, delivered]) =>
    contract(
      `rule Q8: since 4 what a transaction has settled returns when its time is over, and a ${end} changes nothing`,
      async (session, channel) => {
        await filled(channel, {}, 'a');
        const slow = await session.channel();
        await slow.txSelect();
        const started = await consumer(session, slow);
        await slow.ack(1);
        await session.elapse(over);
        const late = [started.cancelled, await counts(channel)];
        await (end === 'commit' ? slow.txCommit() : slow.txRollback());
        await session.elapse(over);
        return [...late, bodies(started.messages), await counts(channel)];
      },
      since4([false, [0, 1], ['a'], [0, 1]], [true, [1, 1], delivered, [1, 1]]),
    ),
  ),
];
