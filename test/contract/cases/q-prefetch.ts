import { args, attempt, bodies, contract, send, take, since4, type Case } from '../contract.js';
import type { Session, TestChannel, TestConsumer } from '../driver.js';

const quorum = { 'x-queue-type': 'quorum' };

/** Twenty messages wait in `q`. */
const twenty = (name: string, run: (channel: TestChannel, session: Session) => Promise<unknown>, expected: unknown) =>
  contract(
    name,
    async (session, channel) => {
      await channel.declareQueue('q');
      await send(channel, 'q', ...Array.from({ length: 20 }, (_, index) => `m${index}`));
      return run(channel, session);
    },
    expected,
  );

async function consuming(channel: TestChannel, session: Session, queue = 'q', noAck = false): Promise<TestConsumer> {
  const consumer = await channel.consume(queue, { noAck });
  await session.settle();
  return consumer;
}

/** Section Q: the limits of one channel, one after the other. */
export const prefetchCases: readonly Case[] = [
  ...([0, 10] as const).map((prefetch) =>
    twenty(
      `rule Q10: qos(${prefetch}) without global lifts the limit of an earlier one with global`,
      async (channel, session) => {
        await channel.qos(3, { global: true });
        await channel.qos(prefetch);
        return (await consuming(channel, session)).messages.length;
      },
      prefetch === 0 ? 20 : 10,
    ),
  ),
  ...([2, 10] as const).map((prefetch) =>
    twenty(
      `rule Q10: the other way round both hold: qos(${prefetch}), then qos(3) with global`,
      async (channel, session) => {
        await channel.qos(prefetch);
        await channel.qos(3, { global: true });
        return (await consuming(channel, session)).messages.length;
      },
      since4(Math.min(prefetch, 3), 3), // rule W12
    ),
  ),
  twenty(
    'rule Q10: consumers that wait for the limit go on when it is lifted',
    async (channel, session) => {
      await channel.qos(3, { global: true });
      const consumer = await consuming(channel, session);
      const before = consumer.messages.length;
      await channel.qos(5);
      await session.settle();
      return [before, consumer.messages.length];
    },
    [3, since4(20, 3)],
  ),
  contract(
    'rule Q10: once it is lifted the channel may consume from a quorum queue',
    async (_, channel) => {
      await channel.declareQueue('q', { durable: true, arguments: args(quorum) });
      await channel.qos(3, { global: true });
      await channel.qos(0);
      const consumer = channel.consume('q');
      return attempt(consumer);
    },
    'ok',
  ),
  twenty(
    'rule Q11: a limit that begins counts what was fetched before, and does not count it off when it is acked',
    async (channel, session) => {
      await take(channel, 'q', 2);
      await channel.qos(3, { global: true });
      const consumer = await consuming(channel, session);
      const before = consumer.messages.length;
      await channel.ack(1);
      await session.settle();
      return [before, consumer.messages.length];
    },
    since4([1, 1], [3, 3]),
  ),
  twenty(
    'rule Q11: what is fetched later does not count, also when the limit is raised',
    async (channel, session) => {
      await channel.qos(3, { global: true });
      await take(channel, 'q', 2);
      await channel.qos(5, { global: true });
      return (await consuming(channel, session)).messages.length;
    },
    5,
  ),
  twenty(
    'rule Q4: a channel full by its shared limit gives nothing to its consumers without acks',
    async (channel, session) => {
      await channel.declareQueue('r');
      await channel.qos(2, { global: true });
      const full = await consuming(channel, session);
      await send(channel, 'r', 'a', 'b');
      const noAck = await consuming(channel, session, 'r', true);
      const before = [full.messages.length, noAck.messages.length];
      await channel.cancel(full.tag);
      await channel.ack(1);
      await session.settle();
      return [...before, full.messages.length, bodies(noAck.messages)];
    },
    [2, since4(0, 2), 2, ['a', 'b']],
  ),
  contract(
    'rule Q12: the consumers of a queue take turns under a shared limit',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.qos(1, { global: true });
      const consumers = [await channel.consume('q'), await channel.consume('q'), await channel.consume('q')];
      await send(channel, 'q', 'a', 'b', 'c', 'd', 'e', 'f');
      await ackEach(session, channel, 6);
      return consumers.map(({ messages }) => bodies(messages));
    },
    [
      ['a', 'd'],
      ['b', 'e'],
      ['c', 'f'],
    ],
  ),
  contract(
    'rule Q12: no queue starves another one under a shared limit',
    async (session, channel) => {
      const names = ['q', 'r', 's'];
      await channel.qos(1, { global: true });
      const consumers: TestConsumer[] = [];
      for (const name of names) {
        await channel.declareQueue(name);
        await send(channel, name, ...Array<string>(25).fill('m'));
        consumers.push(await channel.consume(name));
      }
      await ackEach(session, channel, 25);
      return consumers.map(({ messages }) => messages.length > 0);
    },
    [true, true, true],
  ),
];

/** Acks the deliveries of a channel one after the other. */
async function ackEach(session: Session, channel: TestChannel, count: number): Promise<void> {
  for (let tag = 1; tag <= count; tag += 1) {
    await session.settle();
    await channel.ack(tag);
  }
  await session.settle();
}
