import { args, bodies, contract, send, since4, type Case } from '../contract.js';
import type { Session, TestChannel, TestConsumer } from '../driver.js';

const types = ['classic', 'quorum'] as const;
type QueueType = (typeof types)[number];

/** Messages by their numbers. */
const messagesOf = (numbers: string): string[] => numbers.split(' ').map((number) => `m${number}`);
const byNumber = (one: string, other: string): number => Number(one.slice(1)) - Number(other.slice(1));

/** What settles all that a channel holds, and whether a transaction holds it until the commit. */
type Way = readonly [name: string, settle: (channel: TestChannel) => Promise<void>, isHeld: boolean];

const returns: readonly Way[] = [
  ['a nack with requeue', (channel) => channel.nack(0, { multiple: true, requeue: true }), false],
  ['a recover', (channel) => channel.recover(true), false],
  [
    'a transaction that nacks with requeue',
    (channel) => inTransaction(channel, () => channel.nack(0, { multiple: true, requeue: true })),
    true,
  ],
];

const acks: readonly Way[] = [
  ['an ack', (channel) => channel.ack(0, true), false],
  ['a transaction that acks', (channel) => inTransaction(channel, () => channel.ack(0, true)), true],
];

/** One `basic.nack`, `basic.ack` or `basic.recover` over deliveries of several consumers of one queue (rule J6). */
export const settlementCases: readonly Case[] = types.flatMap((type) => [
  contract(
    `rule J6: a nack without requeue goes by the tags of the consumers, ${type} queue`,
    async (session, channel) => {
      await work(channel, type);
      await consumers(session, channel, ['z', 1], ['y', 1], ['x', 1]);
      await send(channel, 'q', 'a', 'b', 'c');
      await session.settle();
      await channel.nack(3, { multiple: true, requeue: false });
      await session.settle();
      return bodies(await session.drain('dead'));
    },
    ['c', 'b', 'a'],
  ),
  contract(
    `rule J6: what was fetched comes first, one by one, ${type} queue`,
    async (session, channel) => {
      await work(channel, type);
      await consumers(session, channel, ['1', 1], ['0', 1]);
      await send(channel, 'q', 'a', 'b', 'c', 'd');
      await session.settle();
      await channel.get('q');
      await channel.get('q');
      await channel.nack(0, { multiple: true, requeue: false });
      await session.settle();
      return bodies(await session.drain('dead'));
    },
    ['c', 'd', 'b', 'a'],
  ),
  ...returns.flatMap(([what, giveBack]) => [
    contract(
      `rule J6: the queue delivers between the consumers of ${what}, ${type} queue`,
      async (session, channel) => {
        await work(channel, type);
        const got = await consumers(session, channel, ['z', 2], ['y', 2]);
        await send(channel, 'q', 'a', 'b', 'c', 'd', 'e', 'f');
        await session.settle();
        await giveBack(channel);
        await session.settle();
        return got.map(({ messages }) => bodies(messages));
      },
      type === 'classic'
        ? [
            ['a', 'c', 'a', 'c'],
            ['b', 'd', 'b', 'd'],
          ]
        : since4(
            [
              ['a', 'c', 'b', 'd'],
              ['b', 'd', 'e', 'f'],
            ],
            [
              ['a', 'c', 'a', 'c'],
              ['b', 'd', 'b', 'd'],
            ],
          ),
    ),
  ]),
  ...returns
    .filter(([, , isHeld]) => !isHeld)
    .map(([what, giveBack]) =>
      contract(
        `rule J6: ${what} over fetched messages and consumers, ${type} queue`,
        async (session, channel) => {
          await work(channel, type);
          await consumers(session, channel, ['z', 1], ['y', 1]);
          await send(channel, 'q', 'a', 'b', 'c');
          await session.settle();
          await channel.get('q');
          await channel.cancel('z');
          await channel.cancel('y');
          await giveBack(channel);
          await session.settle();
          return bodies(await session.drain('q'));
        },
        type === 'classic' ? ['a', 'b', 'c'] : ['c', 'b', 'a'],
      ),
    ),
  ...acks.map(([what, ack]) =>
    contract(
      `rule J6: the queue delivers between the consumers of ${what}, ${type} queue`,
      async (session, channel) => {
        await work(channel, type);
        const got = await consumers(session, channel, ['z', 2], ['y', 2]);
        await send(channel, 'q', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
        await session.settle();
        await ack(channel);
        await session.settle();
        return got.map(({ messages }) => bodies(messages));
      },
      [
        ['a', 'c', 'g', 'h'],
        ['b', 'd', 'e', 'f'],
      ],
    ),
  ),
  contract(
    `rule J6: the queue delivers between the consumers of a nack without requeue, ${type} queue`,
    async (session, channel) => {
      await work(channel, type);
      const got = await consumers(session, channel, ['z', 2], ['y', 2]);
      await send(channel, 'q', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
      await session.settle();
      await channel.nack(0, { multiple: true, requeue: false });
      await session.settle();
      return [got.map(({ messages }) => bodies(messages)), bodies(await session.drain('dead'))];
    },
    [
      [
        ['a', 'c', 'g', 'h'],
        ['b', 'd', 'e', 'f'],
      ],
      ['b', 'd', 'a', 'c'],
    ],
  ),
  ...(
    [
      ['channel', ['z', 'y', 'x'], 0, '3 2 1', '1 2 3'],
      ['connection', ['z', 'y', 'x'], 0, '3 2 1', '1 2 3'],
      ['channel', [], 12, '1 10 11 12 2 3 4 5 6 7 8 9', '1 10 11 12 2 3 4 5 6 7 8 9'],
      ['channel', ['z', '5'], 2, '3 4 2 1', '1 2 3 4'],
      ['channel', ['z', 'B', '!'], 9, '3 10 11 12 4 5 6 7 8 9 2 1', '1 2 3 10 11 12 4 5 6 7 8 9'],
    ] as const
  ).map(([what, tags, gets, order, orderSince4]) =>
    contract(
      `rule J6: a ${what} that ends gives back what ${tags.length} consumers and ${gets} gets held, ${type} queue`,
      async (session) => {
        const connection = await session.connect();
        const channel = await connection.channel();
        await work(channel, type);
        await consumers(session, channel, ...tags.map((tag) => [tag, 1] as const));
        await send(channel, 'q', ...Array.from({ length: tags.length + gets }, (_, index) => `m${index + 1}`));
        await session.settle();
        for (let index = 0; index < gets; index++) await channel.get('q');
        await (what === 'channel' ? channel : connection).close();
        await session.settle();
        return bodies(await session.drain('q'));
      },
      type === 'quorum' ? since4(messagesOf(order), messagesOf(orderSince4)) : messagesOf(order).sort(byNumber),
    ),
  ),
  contract(
    `rule J6: fetched messages that return one by one leave the queue one by one, ${type} queue`,
    async (session, channel) => {
      await work(channel, type);
      await send(channel, 'q', 'a', 'b', 'c');
      for (let index = 0; index < 3; index++) await channel.get('q');
      const other = await session.channel();
      const [one] = await consumers(session, other, ['one', 1]);
      await channel.nack(0, { multiple: true, requeue: true });
      await session.settle();
      await other.cancel('one');
      await other.nack(0, { multiple: true, requeue: true });
      await session.settle();
      return [bodies(one?.messages ?? []), bodies(await session.drain('q'))];
    },
    type === 'classic' ? [['a'], ['a', 'b', 'c']] : [['a'], ['b', 'c', 'a']],
  ),
]);

/** A queue `q` whose dead letters go to `dead`. */
async function work(channel: TestChannel, type: QueueType): Promise<void> {
  const values = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead', 'x-queue-type': type };
  await channel.declareQueue('dead');
  await channel.declareQueue('q', { durable: true, arguments: args(values) });
}

/** Consumers of `q`, each by its tag and its prefetch; the last `basic.qos` holds on. */
export async function consumers(
  session: Session,
  channel: TestChannel,
  ...wanted: (readonly [tag: string, prefetch: number])[]
): Promise<TestConsumer[]> {
  const all: TestConsumer[] = [];
  for (const [tag, prefetch] of wanted) {
    await channel.qos(prefetch);
    all.push(await channel.consume('q', { tag }));
    await session.settle();
  }
  return all;
}

async function inTransaction(channel: TestChannel, settle: () => Promise<void>): Promise<void> {
  await channel.txSelect();
  await settle();
  await channel.txCommit();
}
