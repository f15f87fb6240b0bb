import { args, bodies, contract, send, type Case } from '../contract.js';
import type { Session, TestChannel, TestConsumer } from '../driver.js';

const types = ['classic', 'quorum'] as const;
type QueueType = (typeof types)[number];

/** Messages by their numbers. */
const messagesOf = (numbers: string): string[] => numbers.split(' ').map((number) => `m${number}`);
const byNumber = (one: string, other: string): number => Number(one.slice(1)) - Number(other.slice(1));

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
  contract(
    `rule J6: a nack with requeue over fetched messages and consumers, ${type} queue`,
    async (session, channel) => {
      await work(channel, type);
      await consumers(session, channel, ['z', 1], ['y', 1]);
      await send(channel, 'q', 'a', 'b', 'c');
      await session.settle();
      await channel.get('q');
      await channel.cancel('z');
      await channel.cancel('y');
      await channel.nack(0, { multiple: true, requeue: true });
      await session.settle();
      return bodies(await session.drain('q'));
    },
    type === 'classic' ? ['a', 'b', 'c'] : ['c', 'b', 'a'],
  ),
  contract(
    `rule J6: the queue delivers between the consumers of a nack with requeue, ${type} queue`,
    async (session, channel) => {
      await work(channel, type);
      const got = await consumers(session, channel, ['z', 2], ['y', 2]);
      await send(channel, 'q', 'a', 'b', 'c', 'd', 'e', 'f');
      await session.settle();
      await channel.nack(0, { multiple: true, requeue: true });
      await session.settle();
      return got.map(({ messages }) => bodies(messages));
    },
    type === 'classic'
      ? [
          ['a', 'c', 'a', 'c'],
          ['b', 'd', 'b', 'd'],
        ]
      : [
          ['a', 'c', 'b', 'd'],
          ['b', 'd', 'e', 'f'],
        ],
  ),
  contract(
    `rule J6: and of a nack without, ${type} queue`,
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
  contract(
    `rule J6: and of an ack, ${type} queue`,
    async (session, channel) => {
      await work(channel, type);
      const got = await consumers(session, channel, ['z', 2], ['y', 2]);
      await send(channel, 'q', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
      await session.settle();
      await channel.ack(0, true);
      await session.settle();
      return got.map(({ messages }) => bodies(messages));
    },
    [
      ['a', 'c', 'g', 'h'],
      ['b', 'd', 'e', 'f'],
    ],
  ),
  contract(
    `rule J6: and of a recover, ${type} queue`,
    async (session, channel) => {
      await work(channel, type);
      const got = await consumers(session, channel, ['z', 2], ['y', 2]);
      await send(channel, 'q', 'a', 'b', 'c', 'd', 'e', 'f');
      await session.settle();
      await channel.recover(true);
      await session.settle();
      return got.map(({ messages }) => bodies(messages));
    },
    type === 'classic'
      ? [
          ['a', 'c', 'a', 'c'],
          ['b', 'd', 'b', 'd'],
        ]
      : [
          ['a', 'c', 'b', 'd'],
          ['b', 'd', 'e', 'f'],
        ],
  ),
  contract(
    `rule J6: a recover over fetched messages and consumers that are gone, ${type} queue`,
    async (session, channel) => {
      await work(channel, type);
      await consumers(session, channel, ['z', 1], ['y', 1]);
      await send(channel, 'q', 'a', 'b', 'c');
      await session.settle();
      await channel.get('q');
      await channel.cancel('z');
      await channel.cancel('y');
      await channel.recover(true);
      await session.settle();
      return bodies(await session.drain('q'));
    },
    type === 'classic' ? ['a', 'b', 'c'] : ['c', 'b', 'a'],
  ),
  ...(
    [
      ['channel', ['z', 'y', 'x'], 0, '3 2 1'],
      ['connection', ['z', 'y', 'x'], 0, '3 2 1'],
      ['channel', [], 12, '1 10 11 12 2 3 4 5 6 7 8 9'],
      ['channel', ['z', '5'], 2, '3 4 2 1'],
      ['channel', ['z', 'B', '!'], 9, '3 10 11 12 4 5 6 7 8 9 2 1'],
    ] as const
  ).map(([what, tags, gets, order]) =>
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
      type === 'quorum' ? messagesOf(order) : messagesOf(order).sort(byNumber),
    ),
  ),
  contract(
    `rule J6: a transaction that nacks delivers between the consumers, too, ${type} queue`,
    async (session, channel) => {
      await work(channel, type);
      const got = await consumers(session, channel, ['z', 2], ['y', 2]);
      await send(channel, 'q', 'a', 'b', 'c', 'd', 'e', 'f');
      await session.settle();
      await channel.txSelect();
      await channel.nack(0, { multiple: true, requeue: true });
      await channel.txCommit();
      await session.settle();
      return got.map(({ messages }) => bodies(messages));
    },
    type === 'classic'
      ? [
          ['a', 'c', 'a', 'c'],
          ['b', 'd', 'b', 'd'],
        ]
      : [
          ['a', 'c', 'b', 'd'],
          ['b', 'd', 'e', 'f'],
        ],
  ),
  contract(
    `rule J6: a transaction that acks delivers between the consumers, too, ${type} queue`,
    async (session, channel) => {
      await work(channel, type);
      const got = await consumers(session, channel, ['z', 2], ['y', 2]);
      await send(channel, 'q', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
      await session.settle();
      await channel.txSelect();
      await channel.ack(0, true);
      await channel.txCommit();
      await session.settle();
      return got.map(({ messages }) => bodies(messages));
    },
    [
      ['a', 'c', 'g', 'h'],
      ['b', 'd', 'e', 'f'],
    ],
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

/** A queue `q` whose dead letters go to `dead`. */
async function work(channel: TestChannel, type: QueueType): Promise<void> {
  const values = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead', 'x-queue-type': type };
  await channel.declareQueue('dead');
  await channel.declareQueue('q', { durable: true, arguments: args(values) });
}

/** Consumers of `q`, each by its tag and its prefetch. */
async function consumers(
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
