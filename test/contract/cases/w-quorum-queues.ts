import { args, attempt, bodies, contract, send, since4, type Case } from '../contract.js';
import type { Session, TestChannel } from '../driver.js';

const quorum = { 'x-queue-type': 'quorum' };

/** A quorum queue `q`. */
const declared = (channel: TestChannel, values: Parameters<typeof args>[0] = {}): Promise<unknown> =>
  channel.declareQueue('q', { durable: true, arguments: args({ ...quorum, ...values }) });

/** A quorum queue whose dead letters come to the quorum queue `dead`. */
async function dying(channel: TestChannel, values: Parameters<typeof args>[0] = {}): Promise<void> {
  await channel.declareQueue('dead', { durable: true, arguments: args(quorum) });
  await declared(channel, { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead', ...values });
}

/** Publishes texts to `q`, each with a priority; undefined for none. */
async function ranked(channel: TestChannel, ...list: readonly (readonly [string, number?, string?])[]): Promise<void> {
  for (const [body, priority, expiration] of list) {
    await channel.publish('', 'q', {
      body,
      properties: { ...(priority !== undefined && { priority }), ...(expiration !== undefined && { expiration }) },
    });
  }
}

const drained = async (session: Session, queue = 'q'): Promise<string[]> => bodies(await session.drain(queue));

/** Milliseconds of a delayed return, and a wait below it. */
const pause = 600;
const less = 200;

type Give = (channel: TestChannel, tag: number) => Promise<unknown>;
const reject: Give = (channel, tag) => channel.reject(tag, true);
const nack: Give = (channel, tag) => channel.nack(tag, { requeue: true });

/** Fetches a message, and returns it. @returns its tag */
async function returned(session: Session, channel: TestChannel, give: Give): Promise<void> {
  const { deliveryTag = 0 } = (await channel.get('q')) ?? {};
  await give(channel, deliveryTag);
  await session.settle();
}

/** What is ready at once, after a while, and after the pause. */
async function ready(session: Session, channel: TestChannel, ...waits: number[]): Promise<number[]> {
  const counts: number[] = [];
  for (const wait of [0, ...waits]) {
    if (wait > 0) await session.elapse(wait);
    counts.push((await channel.declareQueue('q', { passive: true })).messageCount);
  }
  return counts;
}

const delayed = (type: string, more: Parameters<typeof args>[0] = {}) => ({
  'x-delayed-retry-type': type,
  'x-delayed-retry-min': pause,
  ...more,
});

/** Section W: what quorum queues do since RabbitMQ 4. The facts of the first group are in RabbitMQ's tests of its quorum queues. */
export const laterQuorumCases: readonly Case[] = [
  contract(
    'rule W8: since 4 the highest priority comes first, and one without is as 4',
    async (session, channel) => {
      await declared(channel);
      await ranked(channel, ['none'], ['3', 3], ['4', 4], ['5', 5], ['0', 0], ['10', 10]);
      await session.settle();
      return drained(session);
    },
    since4(['none', '3', '4', '5', '0', '10'], ['10', '5', 'none', '4', '3', '0']),
  ),
  contract(
    'rule W8: since 4 priorities above 31 are alike',
    async (session, channel) => {
      await declared(channel);
      await ranked(channel, ['31', 31], ['30', 30], ['200', 200], ['32', 32]);
      await session.settle();
      return drained(session);
    },
    since4(['31', '30', '200', '32'], ['31', '200', '32', '30']),
  ),
  contract(
    'rule W8: since 4 a returned message comes before every priority',
    async (session, channel) => {
      await declared(channel);
      await ranked(channel, ['low', 1], ['middle', 4]);
      await session.settle();
      const first = await channel.get('q');
      const second = await channel.get('q');
      await channel.nack(second?.deliveryTag ?? 0, { requeue: true });
      await channel.nack(first?.deliveryTag ?? 0, { requeue: true });
      await ranked(channel, ['high', 9]);
      await session.settle();
      return drained(session);
    },
    since4(['middle', 'low', 'high'], ['low', 'middle', 'high']),
  ),
  contract(
    'rule W8: since 4 the head of each priority expires by itself',
    async (session, channel) => {
      await dying(channel);
      await ranked(channel, ['stays', 9], ['low', 1, '300'], ['behind', 1], ['high', 9, '300']);
      await session.elapse(pause);
      return [await drained(session, 'dead'), await drained(session)];
    },
    since4([[], ['stays', 'behind']], [['low'], ['stays', 'behind']]),
  ),
  contract(
    'rule W8: a full queue drops what it would deliver first, since 4 the highest priority',
    async (session, channel) => {
      await dying(channel, { 'x-max-length': 2 });
      await ranked(channel, ['low', 1], ['high', 9], ['none']);
      await session.settle();
      return [await drained(session, 'dead'), await drained(session)];
    },
    since4([['low'], ['high', 'none']], [['high'], ['none', 'low']]),
  ),
  ...(
    [
      ['failed', 'a reject', reject, [0, 0, 1]],
      ['failed', 'a nack', nack, [1, 1, 1]],
      ['returned', 'a reject', reject, [1, 1, 1]],
      ['returned', 'a nack', nack, [0, 0, 1]],
      ['all', 'a reject', reject, [0, 0, 1]],
      ['all', 'a nack', nack, [0, 0, 1]],
      ['disabled', 'a reject', reject, [1, 1, 1]],
    ] as const
  ).map(([type, what, give, since]) =>
    contract(
      `rule W7: since 4.3 with the type '${type}' ${what} is delayed or not`,
      async (session, channel) => {
        await declared(channel, delayed(type));
        await send(channel, 'q', 'm');
        await session.settle();
        await returned(session, channel, give);
        return ready(session, channel, less, pause);
      },
      since4([1, 1, 1], since),
    ),
  ),
  contract(
    'rule W7: since 4.3 the wait grows with the failures, up to the maximum',
    async (session, channel) => {
      await declared(channel, delayed('failed', { 'x-delayed-retry-max': pause * 2 }));
      await send(channel, 'q', 'm');
      await session.settle();
      const counts: number[][] = [];
      for (const wait of [1, 2, 2]) {
        await returned(session, channel, reject);
        counts.push(await ready(session, channel, pause * wait - 2 * less, 4 * less));
      }
      return counts;
    },
    since4(
      [1, 2, 3].map(() => [1, 1, 1]),
      [1, 2, 3].map(() => [0, 0, 1]),
    ),
  ),
  contract(
    'rule W7: since 4.3 a delayed message counts for the limits, is purged, and comes first',
    async (session, channel) => {
      await dying(channel, delayed('all', { 'x-max-length': 2 }));
      await send(channel, 'q', 'a', 'b');
      await session.settle();
      await returned(session, channel, reject);
      await send(channel, 'q', 'c');
      await session.elapse(pause + less);
      const seen = [await drained(session, 'dead'), await drained(session)];
      await send(channel, 'q', 'd', 'e');
      await session.settle();
      await returned(session, channel, reject);
      return [...seen, await channel.purgeQueue('q'), await ready(session, channel, pause + less)];
    },
    [['b'], ['a', 'c'], 2, [0, 0]],
  ),
  contract(
    'rule W7: since 4.3 the delivery limit is checked before the wait',
    async (session, channel) => {
      await dying(channel, delayed('all', { 'x-delivery-limit': 1 }));
      await send(channel, 'q', 'm');
      await session.settle();
      await returned(session, channel, reject);
      await session.elapse(pause + less);
      await returned(session, channel, reject);
      return drained(session, 'dead');
    },
    ['m'],
  ),
  ...(
    [
      ['maxlen', { 'x-max-length-bytes': 1_000 }],
      ['rejected', {}],
      ['delivery_limit', { 'x-delivery-limit': 0 }],
      ['expired', {}],
    ] as const
  ).map(([reason, values]) =>
    contract(
      `rule J1: dead letters of a quorum queue come in order, of reason ${reason}`,
      async (session, channel) => {
        await dying(channel, values);
        const other = await session.channel();
        await ranked(channel, ['m1'], ['m2', undefined, reason === 'expired' ? '1' : undefined]);
        if (reason === 'maxlen') await send(channel, 'q', 'x'.repeat(1_500));
        if (reason === 'expired') await ranked(channel, ['m3', undefined, '1']);
        await session.settle();
        if (reason === 'rejected' || reason === 'delivery_limit') await other.consume('q', { tag: 'c' });
        if (reason === 'expired') await channel.get('q', { noAck: true });
        await session.settle();
        if (reason === 'rejected') await other.nack(0, { multiple: true, requeue: false });
        if (reason === 'delivery_limit') await other.close();
        await session.elapse(less);
        return (await drained(session, 'dead')).map((body) => body.slice(0, 2));
      },
      { maxlen: ['m1', 'm2', 'xx'], expired: ['m2', 'm3'], rejected: ['m1', 'm2'], delivery_limit: ['m1', 'm2'] }[
        reason
      ],
    ),
  ),
  contract(
    'rule W6: a limit by policy takes effect at once, and without it that of before holds',
    async (session, channel) => {
      await dying(channel);
      await send(channel, 'q', 'm');
      await session.settle();
      await session.setPolicy('limit', { pattern: '^q$', definition: { 'delivery-limit': 1 } });
      for (const _ of [1, 2]) await returned(session, channel, reject);
      await session.clearPolicy('limit');
      await send(channel, 'q', 'n');
      await session.settle();
      for (const _ of [1, 2, 3]) await returned(session, channel, reject);
      return [await drained(session, 'dead'), await drained(session)];
    },
    [['m'], ['n']],
  ),
  contract(
    'rule Q13: a cancelled tag is used again while its deliveries are open, and one ack settles those of both',
    async (session, channel) => {
      await declared(channel);
      await send(channel, 'q', 'm1');
      const first = await channel.consume('q', { tag: 'c' });
      await session.settle();
      await channel.cancel('c');
      const seen = { first: bodies(first.messages), second: ['none'], left: [-1] };
      const again = async (): Promise<void> => {
        const second = await channel.consume('q', { tag: 'c' });
        await send(channel, 'q', 'm2');
        await session.settle();
        await channel.ack(0, true);
        await channel.cancel('c');
        await session.settle();
        Object.assign(seen, { second: bodies(second.messages), left: await ready(session, channel) });
      };
      return [await attempt(again()), seen];
    },
    ['ok', { first: ['m1'], second: ['m2'], left: [0] }],
  ),
];
