import { args, attempt, bodies, contract, hard, send, soft, take, since4, type Case } from '../contract.js';
import type { TestChannel, TestPermissions } from '../driver.js';

const everything: TestPermissions = { configure: '.*', write: '.*', read: '.*' };
/** Since 4 the text names the right that is missing. */
const refused = (right: keyof TestPermissions, at: string, what: string) => {
  const text = `access to ${what} in vhost 'V' refused for user 'bob'`;
  return since4(soft(403, at, text), soft(403, at, `${right} ${text}`));
};
const refusedQueue = (right: keyof TestPermissions, at: string, queue: string) =>
  refused(right, at, `queue '${queue}'`);
const refusedExchange = (right: keyof TestPermissions, at: string, exchange: string) =>
  refused(right, at, `exchange '${exchange}'`);

const dlx = args({ 'x-dead-letter-exchange': 'dlx' });
const alternate = { arguments: args({ 'alternate-exchange': 'ae' }) };

/** What a user with these rights tries, and how it ends. `q` and `x` exist. */
const attempts: readonly (readonly [
  what: string,
  permissions: Partial<TestPermissions>,
  action: (channel: TestChannel) => Promise<unknown>,
  expected: unknown,
])[] = [
  [
    'rule N2: a DLX needs configure on the queue first',
    { configure: '', read: '', write: '' },
    (channel) => channel.declareQueue('new', { arguments: dlx }),
    refusedQueue('configure', '50.10', 'new'),
  ],
  [
    'rule N2: a DLX needs read on the queue',
    { read: '', write: '' },
    (channel) => channel.declareQueue('new', { arguments: dlx }),
    refusedQueue('read', '50.10', 'new'),
  ],
  [
    'rule N2: a DLX needs write on the exchange, though it does not exist',
    { write: '^other$' },
    (channel) => channel.declareQueue('new', { arguments: dlx }),
    refusedExchange('write', '50.10', 'dlx'),
  ],
  [
    'rule N2: the default exchange is amq.default in texts',
    { write: '^other$' },
    (channel) => channel.declareQueue('new', { arguments: args({ 'x-dead-letter-exchange': '' }) }),
    refusedExchange('write', '50.10', 'amq.default'),
  ],
  [
    'rule N2: the default exchange is amq.default in patterns',
    { write: '^amq\\.default$' },
    (channel) => channel.declareQueue('new', { arguments: args({ 'x-dead-letter-exchange': '' }) }),
    'ok',
  ],
  [
    'rule N2: without a DLX neither read nor write is needed',
    { read: '', write: '' },
    (channel) => channel.declareQueue('new'),
    'ok',
  ],
  [
    'rule N4: publishing needs write on the exchange',
    { write: '' },
    (channel) => channel.publish('x', 'k'),
    refusedExchange('write', '60.40', 'x'),
  ],
  [
    'rule N4: the right to write is checked before the exchange is looked up',
    { write: '' },
    (channel) => channel.publish('missing', 'k'),
    refusedExchange('write', '60.40', 'missing'),
  ],
  [
    'rule N4: publishing to the default exchange needs write on amq.default',
    { write: '' },
    (channel) => channel.publish('', 'q'),
    refusedExchange('write', '60.40', 'amq.default'),
  ],
  [
    'rule N4: consuming needs read',
    { read: '' },
    (channel) => channel.consume('q'),
    refusedQueue('read', '60.20', 'q'),
  ],
  ['rule N4: getting needs read', { read: '' }, (channel) => channel.get('q'), refusedQueue('read', '60.70', 'q')],
  [
    'rule N4: purging needs read',
    { read: '' },
    (channel) => channel.purgeQueue('q'),
    refusedQueue('read', '50.30', 'q'),
  ],
  [
    'rule N4: binding needs write on the queue',
    { write: '', read: '' },
    (channel) => channel.bindQueue('q', 'x'),
    refusedQueue('write', '50.20', 'q'),
  ],
  [
    'rule N4: binding needs read on the exchange',
    { read: '' },
    (channel) => channel.bindQueue('q', 'x'),
    refusedExchange('read', '50.20', 'x'),
  ],
  [
    'rule N4: unbinding needs write on the queue',
    { write: '' },
    (channel) => channel.unbindQueue('q', 'x'),
    refusedQueue('write', '50.50', 'q'),
  ],
  [
    'rule N4: binding exchanges needs write on the destination',
    { write: '' },
    (channel) => channel.bindExchange('x', 'amq.fanout'),
    refusedExchange('write', '40.30', 'x'),
  ],
  [
    'rule N4: binding exchanges needs read on the source',
    { read: '' },
    (channel) => channel.bindExchange('x', 'amq.fanout'),
    refusedExchange('read', '40.30', 'amq.fanout'),
  ],
  [
    'rule N4: declaring an exchange needs configure',
    { configure: '' },
    (channel) => channel.declareExchange('new', 'direct'),
    refusedExchange('configure', '40.10', 'new'),
  ],
  [
    'rule N4: deleting an exchange needs configure',
    { configure: '' },
    (channel) => channel.deleteExchange('x'),
    refusedExchange('configure', '40.20', 'x'),
  ],
  [
    'rule N4: deleting a queue needs configure',
    { configure: '' },
    (channel) => channel.deleteQueue('q'),
    refusedQueue('configure', '50.40', 'q'),
  ],
  [
    'rule N4: an alternate exchange needs read on the new exchange',
    { read: '' },
    (channel) => channel.declareExchange('new', 'direct', alternate),
    refusedExchange('read', '40.10', 'new'),
  ],
  [
    'rule N4: an alternate exchange needs write on the alternate',
    { write: '' },
    (channel) => channel.declareExchange('new', 'direct', alternate),
    refusedExchange('write', '40.10', 'ae'),
  ],
  [
    'rule N4: passive declares need nothing, since 4 the right to configure',
    { configure: '', read: '', write: '' },
    async (channel) => {
      await channel.declareQueue('q', { passive: true });
      await channel.declareExchange('x', 'direct', { passive: true });
    },
    since4('ok', refusedQueue('configure', '50.10', 'q')),
  ],
  [
    'rule N3: redeclaring an equal queue needs configure only',
    { read: '', write: '' },
    (channel) => channel.declareQueue('dying', { arguments: dlx }),
    'ok',
  ],
];

/** Section N: permissions. */
export const permissionCases: readonly Case[] = [
  contract(
    'rule N1: a user without an entry for the virtual host cannot connect',
    async (session) => {
      await session.addUser('bob');
      return attempt(session.connect({ user: 'bob' }));
    },
    hard(530, '10.40', "access to vhost 'V' refused for user 'bob'"),
  ),
  contract(
    'rule N1: patterns are regular expressions over names',
    async (session) => {
      await session.addUser('bob', { ...everything, configure: '^my-' });
      const connection = await session.connect({ user: 'bob' });
      return [
        await attempt((await connection.channel()).declareQueue('my-queue')),
        await attempt((await connection.channel()).declareQueue('not-my-queue')),
      ];
    },
    ['ok', refusedQueue('configure', '50.10', 'not-my-queue')],
  ),
  ...attempts.map(([name, permissions, action, expected]) =>
    contract(
      name,
      async (session, channel) => {
        await channel.declareExchange('x', 'direct');
        await channel.declareQueue('q');
        await channel.declareQueue('dying', { arguments: dlx });
        await session.addUser('bob', { ...everything, ...permissions });
        const connection = await session.connect({ user: 'bob' });
        return attempt(action(await connection.channel()));
      },
      expected,
    ),
  ),
  contract(
    'rule N3: at death nothing is checked, and a DLX by policy needs no right of the publisher or consumer',
    async (session, channel) => {
      await channel.declareQueue('dead');
      await channel.declareQueue('work');
      const definition = { 'dead-letter-exchange': '', 'dead-letter-routing-key': 'dead' };
      await session.setPolicy('dlx', { pattern: '^work$', definition });
      await send(channel, 'work', 'one');
      await session.addUser('bob', { configure: '', write: '', read: '^work$' });
      const bob = await (await session.connect({ user: 'bob' })).channel();
      await take(bob, 'work', 1);
      await bob.reject(1, false);
      return bodies(await session.drain('dead'));
    },
    ['one'],
  ),
];
