import { array, longstr, int32 } from '../../../libs/dlx-broker/src/engine/message/index.js';
import {
  args,
  attempt,
  bodies,
  contract,
  death,
  firstDeath,
  header,
  send,
  soft,
  since4,
  type Case,
} from '../contract.js';
import type { Session, TestChannel } from '../driver.js';
import { normalForm } from '../normal-form.js';

const keys = (...values: readonly string[]) => array(values.map(longstr));

/** Declares `work` with this DLX and the queues named, bound to it by these keys. */
async function arrange(
  channel: TestChannel,
  type: string,
  bound: Readonly<Record<string, string>>,
  values: Parameters<typeof args>[0] = {},
): Promise<void> {
  await channel.declareExchange('dlx', type);
  for (const [queue, key] of Object.entries(bound)) {
    await channel.declareQueue(queue);
    await channel.bindQueue(queue, 'dlx', key);
  }
  await channel.declareQueue('work', { arguments: args({ 'x-dead-letter-exchange': 'dlx', ...values }) });
}

async function reject(channel: TestChannel): Promise<void> {
  const got = await channel.get('work');
  await channel.reject(got?.deliveryTag ?? 0, false);
}

async function counts(session: Session, ...queues: readonly string[]): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const queue of queues) found[queue] = (await session.drain(queue)).length;
  return found;
}

/** Section G: where a dead letter goes. */
export const routingCases: readonly Case[] = [
  ...(
    [
      ['direct', { yes: 'work', no: 'other' }],
      ['topic', { yes: '*', no: 'a.*' }],
      ['fanout', { yes: '', no: '' }],
    ] as const
  ).map(([type, bound]) =>
    contract(
      `rule G1: a ${type} exchange as DLX routes by its type`,
      async (session, channel) => {
        await arrange(channel, type, bound);
        await send(channel, 'work', 'one');
        await reject(channel);
        return counts(session, 'yes', 'no');
      },
      { yes: 1, no: type === 'fanout' ? 1 : 0 },
    ),
  ),
  contract(
    'rule G1: the DLX may be predeclared, or internal though clients cannot publish to it',
    async (session, channel) => {
      await channel.declareQueue('dead');
      await channel.bindQueue('dead', 'amq.fanout');
      await channel.declareExchange('inside', 'fanout', { internal: true });
      await channel.bindQueue('dead', 'inside');
      for (const dlx of ['amq.fanout', 'inside']) {
        await channel.declareQueue('work', { arguments: args({ 'x-dead-letter-exchange': dlx }) });
        await send(channel, 'work', dlx);
        await reject(channel);
        await channel.deleteQueue('work');
      }
      return [bodies(await session.drain('dead')), await attempt(channel.publish('inside', ''))];
    },
    [['amq.fanout', 'inside'], soft(403, '60.40', "cannot publish to internal exchange 'inside' in vhost 'V'")],
  ),
  contract(
    'rule G2: without a configured key all keys count: the publish key, CC and BCC',
    async (session, channel) => {
      await arrange(channel, 'direct', { main: 'work', cc: 'c', bcc: 'b', none: 'x' });
      const headers = args({ CC: keys('c'), BCC: keys('b') });
      await channel.publish('', 'work', { body: 'one', properties: { headers } });
      await reject(channel);
      return counts(session, 'main', 'cc', 'bcc', 'none');
    },
    { main: 1, cc: 1, bcc: 1, none: 0 },
  ),
  contract(
    'rule G2: a configured key replaces them all',
    async (session, channel) => {
      await arrange(
        channel,
        'direct',
        { main: 'work', cc: 'c', bcc: 'b', only: 'x' },
        { 'x-dead-letter-routing-key': 'x' },
      );
      const headers = args({ CC: keys('c'), BCC: keys('b') });
      await channel.publish('', 'work', { body: 'one', properties: { headers } });
      await reject(channel);
      return counts(session, 'main', 'cc', 'bcc', 'only');
    },
    { main: 0, cc: 0, bcc: 0, only: 1 },
  ),
  contract(
    'rule G3: CC and BCC add keys at publish; BCC is removed and leaves an empty table',
    async (session, channel) => {
      for (const queue of ['to', 'cc', 'bcc', 'CC']) await channel.declareQueue(queue);
      await channel.publish('', 'to', { properties: { headers: args({ CC: keys('cc') }) } });
      await channel.publish('', 'to', { properties: { headers: args({ BCC: keys('bcc') }) } });
      const cc = await session.drain('cc');
      const bcc = await session.drain('bcc');
      return [...cc, ...bcc]
        .map((message) => normalForm(session, message))
        .map(({ headers, routingKey }) => [routingKey, headers]);
    },
    [
      ['to', [['CC', 'A', [['S', 'cc']]]]],
      ['to', []],
    ],
  ),
  contract(
    'rule G3: elements that are not strings are ignored, and so are lower-case names',
    async (session, channel) => {
      for (const queue of ['to', 'cc', '5']) await channel.declareQueue(queue);
      const headers = args({ CC: array([int32(5), longstr('cc')]), cc: keys('5') });
      await channel.publish('', 'to', { properties: { headers } });
      return counts(session, 'to', 'cc', '5');
    },
    { to: 1, cc: 1, '5': 0 },
  ),
  ...['CC', 'BCC'].map((name) =>
    contract(
      `rule G3: a ${name} that is no array is refused`,
      async (_session, channel) =>
        attempt(channel.publish('', 'q', { properties: { headers: args({ [name]: 'text' }) } })),
      soft(406, '60.40', `invalid message: {unacceptable_type_in_header,"${name}",longstr}`),
    ),
  ),
  contract(
    'rule G4: a queue gets one copy however many bindings and keys match',
    async (session, channel) => {
      await arrange(channel, 'topic', { dead: '#' });
      for (const key of ['work', '*', '*.#']) await channel.bindQueue('dead', 'dlx', key);
      await channel.publish('', 'work', { properties: { headers: args({ CC: keys('work', 'other') }) } });
      await reject(channel);
      return counts(session, 'dead');
    },
    { dead: 1 },
  ),
  contract(
    'rule G5: exchange bindings are followed, loops are harmless, the message shows the DLX',
    async (session, channel) => {
      await arrange(channel, 'fanout', {});
      for (const exchange of ['second', 'third']) await channel.declareExchange(exchange, 'fanout');
      await channel.bindExchange('second', 'dlx');
      await channel.bindExchange('third', 'second');
      await channel.bindExchange('dlx', 'third');
      await channel.bindExchange('dlx', 'dlx');
      await channel.declareQueue('dead');
      await channel.bindQueue('dead', 'second');
      await channel.bindQueue('dead', 'third');
      await send(channel, 'work', 'one');
      await reject(channel);
      return (await session.drain('dead')).map(({ exchange }) => exchange);
    },
    ['dlx'],
  ),
  contract(
    'rule G6: the alternate exchange takes what the DLX cannot route, and the message still shows the DLX',
    async (session, channel) => {
      await channel.declareExchange('spare', 'fanout');
      await channel.declareExchange('dlx', 'direct', { arguments: args({ 'alternate-exchange': 'spare' }) });
      for (const queue of ['spared', 'direct']) await channel.declareQueue(queue);
      await channel.bindQueue('spared', 'spare');
      await channel.bindQueue('direct', 'dlx', 'direct');
      await channel.declareQueue('work', { arguments: args({ 'x-dead-letter-exchange': 'dlx' }) });
      await send(channel, 'work', 'one');
      await reject(channel);
      await channel.publish('dlx', 'direct');
      const spared = await session.drain('spared');
      return [spared.map(({ exchange, routingKey }) => [exchange, routingKey]), await counts(session, 'direct')];
    },
    [[['dlx', 'work']], { direct: 1 }],
  ),
  contract(
    'rule G6: an alternate exchange by policy works too; a missing alternate is ignored, a loop ends',
    async (session, channel) => {
      await session.setPolicy('spare', {
        pattern: '^first$',
        definition: { 'alternate-exchange': 'second' },
        applyTo: 'exchanges',
      });
      await channel.declareExchange('first', 'direct');
      await channel.declareQueue('end');
      const absent = await attempt(channel.publish('first', 'x'));
      await channel.declareExchange('second', 'direct', { arguments: args({ 'alternate-exchange': 'first' }) });
      const loop = await attempt(channel.publish('first', 'x'));
      await channel.bindQueue('end', 'second', 'x');
      await channel.publish('first', 'x');
      return [absent, loop, await counts(session, 'end')];
    },
    ['ok', 'ok', { end: 1 }],
  ),
  contract(
    'rule G6: each exchange visited looks to its own alternate, though another branch found a queue',
    async (session, channel) => {
      await channel.declareExchange('spare', 'fanout');
      await channel.declareExchange('branch', 'direct', { arguments: args({ 'alternate-exchange': 'spare' }) });
      await channel.declareExchange('root', 'fanout');
      await channel.bindExchange('branch', 'root');
      for (const queue of ['found', 'spared']) await channel.declareQueue(queue);
      await channel.bindQueue('found', 'root');
      await channel.bindQueue('spared', 'spare');
      await channel.publish('root', 'nowhere');
      return counts(session, 'found', 'spared');
    },
    { found: 1, spared: 1 },
  ),
  contract(
    'rule G7: with the default exchange as DLX the key names the target',
    async (session, channel) => {
      await channel.declareQueue('dead');
      await channel.declareQueue('work', {
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' }),
      });
      await send(channel, 'work', 'one');
      await reject(channel);
      return (await session.drain('dead')).map((message) => normalForm(session, message));
    },
    [
      {
        exchange: '',
        routingKey: 'dead',
        redelivered: since4(false, true),
        properties: {},
        body: 'one',
        headers: [
          ['x-death', 'A', [death({ queue: 'work', reason: 'rejected', keys: ['work'] })]],
          ...firstDeath('rejected', 'work'),
        ],
      },
    ],
  ),
  contract(
    'rule G8: a headers exchange as DLX sees the new headers',
    async (session, channel) => {
      await arrange(channel, 'headers', {});
      for (const [queue, reason] of [
        ['rejected', 'rejected'],
        ['expired', 'expired'],
      ] as const) {
        await channel.declareQueue(queue);
        const match = args({ 'x-match': 'all-with-x', 'x-first-death-reason': reason });
        await channel.bindQueue(queue, 'dlx', '', match);
      }
      await send(channel, 'work', 'one');
      await reject(channel);
      return counts(session, 'rejected', 'expired');
    },
    { rejected: 1, expired: 0 },
  ),
  contract(
    'rule G9: a dead letter reaches a direct reply-to address',
    async (session, channel) => {
      const requester = await session.channel();
      const replies = await requester.consume('amq.rabbitmq.reply-to', { noAck: true });
      await channel.declareQueue('requests');
      await requester.publish('', 'requests', { properties: { replyTo: 'amq.rabbitmq.reply-to' } });
      await session.settle();
      const address = (await channel.get('requests'))?.properties.replyTo ?? '';
      await channel.declareQueue('work', {
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': address }),
      });
      await send(channel, 'work', 'one');
      await reject(channel);
      await session.settle();
      return [bodies(replies.messages), header(session, replies.messages[0], 'x-first-death-queue')];
    },
    [['one'], ['S', 'work']],
  ),
  contract(
    'rule G10: the bindings at the moment of death count',
    async (session, channel) => {
      await arrange(channel, 'fanout', { old: '' });
      await send(channel, 'work', 'one');
      await channel.get('work');
      await channel.unbindQueue('old', 'dlx');
      await channel.declareQueue('new');
      await channel.bindQueue('new', 'dlx');
      await channel.reject(1, false);
      return counts(session, 'old', 'new');
    },
    { old: 0, new: 1 },
  ),
];
