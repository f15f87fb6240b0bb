import { args, attempt, bodies, contract, send, soft, take, type Case } from '../contract.js';
import type { TestChannel } from '../driver.js';

const locked = (at: string, queue: string) =>
  soft(
    405,
    at,
    `cannot obtain exclusive access to locked queue '${queue}' in vhost 'V'. It could be originally declared on another connection or the exclusive property value does not match that of the original declaration.`,
  );

const noPrevious = (at: string) => soft(404, at, 'no previously declared queue');

const lockedUses: readonly (readonly [what: string, at: string, use: (channel: TestChannel) => Promise<unknown>])[] = [
  ['declaring', '50.10', (channel) => channel.declareQueue('mine', { exclusive: true })],
  ['declaring passively', '50.10', (channel) => channel.declareQueue('mine', { passive: true })],
  ['binding', '50.20', (channel) => channel.bindQueue('mine', 'amq.fanout')],
  ['purging', '50.30', (channel) => channel.purgeQueue('mine')],
  ['deleting', '50.40', (channel) => channel.deleteQueue('mine')],
  ['consuming', '60.20', (channel) => channel.consume('mine')],
  ['getting', '60.70', (channel) => channel.get('mine')],
];

const namelessUses: readonly (readonly [what: string, at: string, use: (channel: TestChannel) => Promise<unknown>])[] =
  [
    ['get', '60.70', (channel) => channel.get('')],
    ['consume', '60.20', (channel) => channel.consume('')],
    ['bind', '50.20', (channel) => channel.bindQueue('', 'amq.fanout')],
    ['purge', '50.30', (channel) => channel.purgeQueue('')],
    ['delete', '50.40', (channel) => channel.deleteQueue('')],
  ];

/** Section O: queues. */
export const queueCases: readonly Case[] = [
  contract(
    'rule O1: declare-ok tells name, ready messages and consumers',
    async (session, channel) => {
      await channel.declareQueue('q');
      await send(channel, 'q', 'a', 'b', 'c');
      await channel.get('q');
      const before = await channel.declareQueue('q');
      await channel.qos(1);
      await channel.consume('q');
      await session.settle();
      return [before, await channel.declareQueue('q')];
    },
    [
      { queue: 'q', messageCount: 2, consumerCount: 0 },
      { queue: 'q', messageCount: 1, consumerCount: 1 },
    ],
  ),
  contract(
    'rule O2: a queue without a name gets one of thirty characters',
    async (session, channel) => {
      const { queue } = await channel.declareQueue('');
      const other = await channel.declareQueue('');
      return [session.plain(queue), queue.length, queue !== other.queue];
    },
    ['amq.gen-NAME', 30, true],
  ),
  contract(
    'rule O2: no name means the queue last declared on the channel',
    async (_session, channel) => {
      await channel.declareQueue('q');
      await channel.bindQueue('', 'amq.direct', '');
      await channel.publish('amq.direct', 'q', { body: 'by the queue’s name' });
      await channel.bindQueue('', 'amq.direct', 'key');
      await channel.publish('amq.direct', 'key', { body: 'by the key' });
      const got = [await channel.get(''), await channel.get('')].map((message) => message?.body);
      return [got, await channel.purgeQueue(''), await channel.deleteQueue('')];
    },
    [['by the queue’s name', 'by the key'], 0, 0],
  ),
  ...namelessUses.map(([what, at, use]) =>
    contract(
      `rule O2: ${what} without a name fails when no queue was declared`,
      async (_session, channel) => attempt(use(channel)),
      noPrevious(at),
    ),
  ),
  contract(
    'rule O3: names with amq. are reserved, but may be asked for',
    async (session, channel) => [
      await attempt(channel.declareQueue('amq.mine')),
      await attempt((await session.channel()).declareQueue('amq.mine', { passive: true })),
    ],
    [
      soft(403, '50.10', "queue name 'amq.mine' contains reserved prefix 'amq.*'"),
      soft(404, '50.10', "no queue 'amq.mine' in vhost 'V'"),
    ],
  ),
  contract(
    'rule O3: line ends are stripped from names',
    async (_session, channel) => (await channel.declareQueue('with\r\nend\n')).queue,
    'withend',
  ),
  ...lockedUses.map(([what, at, use]) =>
    contract(
      `rule O4: ${what} an exclusive queue of another connection is refused`,
      async (session, channel) => {
        await channel.declareQueue('mine', { exclusive: true });
        return attempt(use(await (await session.connect()).channel()));
      },
      locked(at, 'mine'),
    ),
  ),
  contract(
    'rule O4: everybody may publish to an exclusive queue',
    async (session, channel) => {
      await channel.declareQueue('mine', { exclusive: true });
      await send(await (await session.connect()).channel(), 'mine', 'one');
      await session.elapse(20);
      return (await channel.get('mine'))?.body;
    },
    'one',
  ),
  contract(
    'rule O4: the owner cannot make it shared, nor a shared one exclusive',
    async (session, channel) => {
      await channel.declareQueue('mine', { exclusive: true });
      await channel.declareQueue('shared');
      return [
        await attempt(channel.declareQueue('mine')),
        await attempt((await session.channel()).declareQueue('shared', { exclusive: true })),
      ];
    },
    [locked('50.10', 'mine'), locked('50.10', 'shared')],
  ),
  contract(
    'rule O4: it is deleted with its connection, even if durable',
    async (session, channel) => {
      const connection = await session.connect();
      await (await connection.channel()).declareQueue('mine', { exclusive: true, durable: true });
      await connection.close();
      await session.elapse(50);
      return attempt(channel.declareQueue('mine', { passive: true }));
    },
    soft(404, '50.10', "no queue 'mine' in vhost 'V'"),
  ),
  contract(
    'rule O5: an auto-delete queue goes with its last consumer, not before it had one; basic.get is none',
    async (session, channel) => {
      await channel.declareQueue('q', { autoDelete: true });
      await channel.get('q');
      const first = await channel.consume('q');
      const other = await session.channel();
      await other.consume('q');
      await channel.cancel(first.tag);
      await session.settle();
      const still = await attempt(channel.bindQueue('q', 'amq.fanout'));
      await other.close();
      await session.settle();
      return [still, await attempt(channel.bindQueue('q', 'amq.fanout'))];
    },
    ['ok', soft(404, '50.20', "no queue 'q' in vhost 'V'")],
  ),
  contract(
    'rule O6: deleting a missing queue is fine, purging it is not',
    async (_session, channel) => [await channel.deleteQueue('missing'), await attempt(channel.purgeQueue('missing'))],
    [0, soft(404, '50.30', "no queue 'missing' in vhost 'V'")],
  ),
  contract(
    'rule O6: delete tells how many were ready; if-empty and if-unused hold it back',
    async (session, channel) => {
      await channel.declareQueue('full');
      await channel.declareQueue('used');
      await send(channel, 'full', 'a', 'b');
      await take(channel, 'full', 1);
      await channel.consume('used');
      return [
        await attempt((await session.channel()).deleteQueue('full', { ifEmpty: true })),
        await attempt((await session.channel()).deleteQueue('used', { ifUnused: true })),
        await channel.deleteQueue('full'),
        await channel.deleteQueue('used', { ifEmpty: true }),
      ];
    },
    [
      soft(406, '50.40', "queue 'full' in vhost 'V' not empty"),
      soft(406, '50.40', "queue 'used' in vhost 'V' in use"),
      1,
      0,
    ],
  ),
  contract(
    'rule O6: a purge removes ready messages only',
    async (session, channel) => {
      await channel.declareQueue('q');
      await send(channel, 'q', 'a', 'b', 'c');
      await take(channel, 'q', 1);
      const purged = await channel.purgeQueue('q');
      await channel.reject(1, true);
      return [purged, bodies(await session.drain('q'))];
    },
    [2, ['a']],
  ),
  contract(
    'rule O7: every queue is bound to the default exchange by its name, for good',
    async (session, channel) => {
      await channel.declareQueue('q');
      const unbinding = await attempt((await session.channel()).unbindQueue('q', '', 'q'));
      await send(channel, 'q', 'one');
      return [(unbinding as { code: number }).code, bodies(await session.drain('q'))];
    },
    [403, ['one']],
  ),
  contract(
    'rule O1: a queue keeps unknown arguments',
    async (_session, channel) => {
      await channel.declareQueue('q', { arguments: args({ 'x-unheard-of': 1 }) });
      return attempt(channel.declareQueue('q', { arguments: args({ 'x-unheard-of': 2 }) }));
    },
    'ok',
  ),
];
