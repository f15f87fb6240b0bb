import { array, longstr } from '../../../libs/dlx-broker/src/engine/message/index.js';
import {
  args,
  attempt,
  bodies,
  contract,
  hard,
  send,
  soft,
  take,
  workAndDead,
  since4,
  type Case,
} from '../contract.js';
import { normalForm } from '../normal-form.js';

/** Section K: confirms, returns, transactions. */
export const confirmCases: readonly Case[] = [
  contract(
    'rule K1: a message is acked when queued, unroutable, expired at once or dropped at once',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.declareQueue('brief', { arguments: args({ 'x-message-ttl': 0 }) });
      await channel.declareQueue('short', { arguments: args({ 'x-max-length': 0 }) });
      await channel.confirmSelect();
      for (const queue of ['q', 'nobody', 'brief', 'short']) await send(channel, queue, queue);
      await session.settle();
      return channel.confirms();
    },
    { acked: [1, 2, 3, 4], nacked: [], pending: [] },
  ),
  contract(
    'rule K1: numbers count from the first publish after confirm.select, per channel',
    async (session, channel) => {
      await send(channel, 'nobody', 'before');
      await channel.confirmSelect();
      await send(channel, 'nobody', 'a', 'b');
      const other = await session.channel();
      await other.confirmSelect();
      await send(other, 'nobody', 'c');
      await session.settle();
      return [channel.log, other.log];
    },
    [['ack 1', 'ack 2'], ['ack 1']],
  ),
  contract(
    'rule K1: a dropped head does not nack the new message',
    async (session, channel) => {
      await channel.declareQueue('q', { arguments: args({ 'x-max-length': 1 }) });
      await channel.confirmSelect();
      await send(channel, 'q', 'a', 'b');
      await session.settle();
      return channel.confirms();
    },
    { acked: [1, 2], nacked: [], pending: [] },
  ),
  contract(
    'rule K2: the confirm says nothing of the fate of the dead letter',
    async (session, channel) => {
      await channel.declareExchange('dlx', 'direct');
      await channel.declareQueue('q', { arguments: args({ 'x-dead-letter-exchange': 'dlx', 'x-max-length': 0 }) });
      await channel.confirmSelect();
      await send(channel, 'q', 'a');
      await session.settle();
      return channel.log;
    },
    ['ack 1'],
  ),
  contract(
    'rule K4: a mandatory message without a queue is returned as published, before its ack',
    async (session, channel) => {
      await channel.confirmSelect();
      const headers = args({ a: { type: 's', value: 1 }, BCC: array([longstr('nobody too')]) });
      const properties = { headers, expiration: '5000', messageId: 'm' };
      await channel.publish('amq.direct', 'nowhere', { body: 'one', mandatory: true, properties });
      await session.settle();
      const returned = channel.returns.map((message) => [message.code, message.text, normalForm(session, message)]);
      return [returned, channel.log];
    },
    [
      [
        [
          312,
          'NO_ROUTE',
          {
            exchange: 'amq.direct',
            routingKey: 'nowhere',
            properties: { expiration: '5000', messageId: 'm' },
            headers: [['a', 's', 1]],
            body: 'one',
          },
        ],
      ],
      ['return one', 'ack 1'],
    ],
  ),
  contract(
    'rule K4: what CC, BCC or an alternate exchange routes is not returned, nor what a full queue refuses',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.declareExchange('main', 'direct', { arguments: args({ 'alternate-exchange': 'amq.fanout' }) });
      await channel.bindQueue('q', 'amq.fanout');
      await channel.declareQueue('full', {
        arguments: args({ 'x-max-length': 0, 'x-overflow': 'reject-publish' }),
      });
      await channel.confirmSelect();
      const mandatory = { mandatory: true };
      for (const name of ['CC', 'BCC'])
        await channel.publish('', 'nobody', {
          ...mandatory,
          properties: { headers: args({ [name]: array([longstr('q')]) }) },
        });
      await channel.publish('main', 'nobody', mandatory);
      await channel.publish('', 'full', mandatory);
      await session.settle();
      return channel.log;
    },
    ['ack 1', 'ack 2', 'ack 3', 'nack 4'],
  ),
  contract(
    'rule K5: immediate is not implemented',
    async (_session, channel) => attempt(channel.publish('', 'q', { immediate: true })),
    hard(540, '60.40', 'immediate=true'),
  ),
  contract(
    'rule K6: a missing exchange closes the channel, and outstanding confirms never come',
    async (session, channel) => {
      await channel.confirmSelect();
      const failure = await attempt(channel.publish('missing', 'q'));
      await session.settle();
      return [failure, channel.confirms()];
    },
    [soft(404, '60.40', "no exchange 'missing' in vhost 'V'"), { acked: [], nacked: [], pending: [1] }],
  ),
  contract(
    'rule K6: an internal exchange takes nothing from clients',
    async (_session, channel) => {
      await channel.declareExchange('inside', 'direct', { internal: true });
      return attempt(channel.publish('inside', 'q'));
    },
    soft(403, '60.40', "cannot publish to internal exchange 'inside' in vhost 'V'"),
  ),
  contract(
    'rule K7: the delivery mode is 1, 2 or absent, since 4 any number',
    async (_session, channel) => [
      await attempt(channel.publish('', 'q', { properties: { deliveryMode: 1 } })),
      await attempt(channel.publish('', 'q', { properties: { deliveryMode: 2 } })),
      await attempt(channel.publish('', 'q', { properties: { deliveryMode: 3 } })),
    ],
    ['ok', 'ok', since4(soft(406, '60.40', 'invalid message: {delivery_mode_unknown,3}'), 'ok')],
  ),
  contract(
    'rule K7: the user-id must be the login',
    async (_session, channel) => [
      await attempt(channel.publish('', 'q', { properties: { userId: 'guest' } })),
      await attempt(channel.publish('', 'q', { properties: { userId: 'somebody' } })),
    ],
    ['ok', soft(406, '60.40', "user_id property set to 'somebody' but authenticated user was 'guest'")],
  ),
  contract(
    'rule K7: user-id is checked before expiration until 4, expiration before delivery mode',
    async (session, channel) => {
      const expiration = 'x';
      const other = await session.channel();
      return [
        await attempt(channel.publish('', 'q', { properties: { userId: 'somebody', expiration, deliveryMode: 3 } })),
        await attempt(other.publish('', 'q', { properties: { expiration, deliveryMode: 3 } })),
      ];
    },
    [
      since4(
        soft(406, '60.40', "user_id property set to 'somebody' but authenticated user was 'guest'"),
        soft(406, '60.40', "invalid expiration 'x': no_integer"),
      ),
      soft(406, '60.40', "invalid expiration 'x': no_integer"),
    ],
  ),
  contract(
    'rule K8: publishes and settlements wait for the commit, publishes first',
    async (session, channel) => {
      await workAndDead(channel);
      await channel.bindQueue('dead', 'amq.direct', 'dead');
      await send(channel, 'work', 'rejected');
      await take(channel, 'work', 1);
      await channel.txSelect();
      await channel.reject(1, false);
      await channel.publish('amq.direct', 'dead', { body: 'published' });
      const before = bodies(await session.drain('dead'));
      await channel.txCommit();
      return [before, bodies(await session.drain('dead'))];
    },
    [[], ['published', 'rejected']],
  ),
  contract(
    'rule K8: a rollback forgets both, and deliveries can be settled again',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'one');
      await take(channel, 'work', 1);
      await channel.txSelect();
      await channel.ack(1);
      await channel.publish('', 'dead', { body: 'forgotten' });
      await channel.txRollback();
      await channel.reject(1, false);
      await channel.txCommit();
      return bodies(await session.drain('dead'));
    },
    ['one'],
  ),
  contract(
    'rule K8: closing the channel rolls back',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'one');
      const passing = await session.channel();
      await passing.txSelect();
      await passing.get('work');
      await passing.reject(1, false);
      await passing.publish('', 'dead', { body: 'forgotten' });
      await passing.close();
      return [bodies(await session.drain('work')), bodies(await session.drain('dead'))];
    },
    [['one'], []],
  ),
  contract(
    'rule K8: checks are made at once, not at the commit',
    async (session, channel) => {
      const other = await session.channel();
      await channel.txSelect();
      await other.txSelect();
      return [await attempt(channel.ack(1)), await attempt(other.publish('missing', 'q'))];
    },
    [soft(406, '60.80', 'unknown delivery tag 1'), soft(404, '60.40', "no exchange 'missing' in vhost 'V'")],
  ),
  contract(
    'rule K9: a channel cannot change between confirm and tx',
    async (session, channel) => {
      const other = await session.channel();
      await channel.confirmSelect();
      await other.txSelect();
      await other.txSelect();
      return [await attempt(channel.txSelect()), await attempt(other.confirmSelect())];
    },
    [
      soft(406, '90.10', 'cannot switch from confirm to tx mode'),
      soft(406, '85.10', 'cannot switch from tx to confirm mode'),
    ],
  ),
  contract(
    'rule K9: commit and rollback need tx.select',
    async (session, channel) => [
      await attempt(channel.txCommit()),
      await attempt((await session.channel()).txRollback()),
    ],
    [soft(406, '90.20', 'channel is not transactional'), soft(406, '90.30', 'channel is not transactional')],
  ),
  contract(
    'rule K9: a refusal inside a transaction fails the commit, though accepted messages stay',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.declareQueue('full', {
        arguments: args({ 'x-max-length': 0, 'x-overflow': 'reject-publish' }),
      });
      await channel.txSelect();
      await send(channel, 'q', 'stays');
      await send(channel, 'full', 'refused');
      const failure = await attempt(channel.txCommit());
      return [failure, bodies(await session.drain('q'))];
    },
    [soft(406, '90.20', 'partial tx completion'), ['stays']],
  ),
];
