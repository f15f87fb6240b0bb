import {
  args,
  attempt,
  bodies,
  contract,
  deaths,
  header,
  send,
  soft,
  take,
  workAndDead,
  type Case,
} from '../contract.js';

/** Section A: when a message is dead-lettered, and when not. */
export const deathCases: readonly Case[] = [
  ...(['reject', 'nack'] as const).flatMap((method) =>
    (['consumer', 'get'] as const).map((way) =>
      contract(
        `rule A2: basic.${method} without requeue of a message that came by ${way} dead-letters it as rejected`,
        async (session, channel) => {
          await workAndDead(channel);
          const consumer = way === 'consumer' ? await channel.consume('work') : undefined;
          await send(channel, 'work', 'one');
          await session.settle();
          const tag = consumer ? consumer.messages[0]?.deliveryTag : (await channel.get('work'))?.deliveryTag;
          if (method === 'reject') await channel.reject(tag ?? 0, false);
          else await channel.nack(tag ?? 0, { requeue: false });
          const dead = await session.drain('dead');
          return { bodies: bodies(dead), deaths: deaths(dead[0]), left: (await channel.get('work')) ?? 'nothing' };
        },
        { bodies: ['one'], deaths: ['work/rejected 1'], left: 'nothing' },
      ),
    ),
  ),
  contract(
    'rule A1: the four reasons have these exact names',
    async (session, channel) => {
      await workAndDead(channel);
      const dlx = { 'x-dead-letter-exchange': 'dlx' };
      await channel.declareQueue('short', { arguments: args({ ...dlx, 'x-max-length': 0 }) });
      await channel.declareQueue('brief', { arguments: args({ ...dlx, 'x-message-ttl': 0 }) });
      const limit = { 'x-queue-type': 'quorum', 'x-delivery-limit': 0 };
      await channel.declareQueue('wary', { durable: true, arguments: args({ ...dlx, ...limit }) });
      for (const queue of ['work', 'short', 'brief', 'wary']) await send(channel, queue, queue);
      await session.settle();
      await channel.reject((await channel.get('work'))?.deliveryTag ?? 0, false);
      await channel.reject((await channel.get('wary'))?.deliveryTag ?? 0, true);
      const dead = await session.drain('dead');
      return dead.map((message) => `${message.body} ${header(session, message, 'x-first-death-reason')}`).sort();
    },
    ['brief S,expired', 'short S,maxlen', 'wary S,delivery_limit', 'work S,rejected'],
  ),
  contract(
    'rule A3: nack multiple covers all queues and both ways of delivery of the channel, each by its own queue’s DLX',
    async (session, channel) => {
      await workAndDead(channel);
      await channel.declareQueue('graves');
      await channel.declareQueue('other', {
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'graves' }),
      });
      await send(channel, 'work', 'w1', 'w2');
      await send(channel, 'other', 'o1', 'o2');
      await take(channel, 'work', 2);
      const consumer = await channel.consume('other');
      await session.settle();
      await channel.nack(consumer.messages[0]?.deliveryTag ?? 0, { multiple: true, requeue: false });
      const seen = [bodies(await session.drain('dead')), bodies(await session.drain('graves'))];
      await channel.ack(consumer.messages[1]?.deliveryTag ?? 0);
      return seen;
    },
    [['w1', 'w2'], ['o1']],
  ),
  contract(
    'rule A3: tag 0 with multiple means everything outstanding',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'one', 'two');
      await take(channel, 'work', 2);
      await channel.nack(0, { multiple: true, requeue: false });
      return bodies(await session.drain('dead'));
    },
    ['one', 'two'],
  ),
  contract(
    'rule A3: tag 0 with multiple is no error when nothing is outstanding',
    async (_session, channel) => [
      await attempt(channel.ack(0, true)),
      await attempt(channel.nack(0, { multiple: true, requeue: false })),
    ],
    ['ok', 'ok'],
  ),
  contract(
    'rule A4: a tag that was settled already is unknown',
    async (_session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'one');
      const tag = (await channel.get('work'))?.deliveryTag ?? 0;
      await channel.ack(tag);
      return attempt(channel.ack(tag));
    },
    soft(406, '60.80', 'unknown delivery tag 1'),
  ),
  contract(
    'rule A4: a tag that was never delivered is unknown to reject',
    async (_session, channel) => attempt(channel.reject(7, false)),
    soft(406, '60.90', 'unknown delivery tag 7'),
  ),
  contract(
    'rule A4: a tag of a no-ack delivery is unknown to nack',
    async (_session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'one');
      const got = await channel.get('work', { noAck: true });
      return [got?.deliveryTag, await attempt(channel.nack(1, { requeue: false }))];
    },
    [1, soft(406, '60.120', 'unknown delivery tag 1')],
  ),
  contract(
    'rule A4: a tag of another channel is unknown',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'one');
      await channel.get('work');
      return attempt((await session.channel()).ack(1));
    },
    soft(406, '60.80', 'unknown delivery tag 1'),
  ),
  contract(
    'rule A4: tag 0 without multiple is unknown',
    async (_session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'one');
      await channel.get('work');
      return attempt(channel.ack(0));
    },
    soft(406, '60.80', 'unknown delivery tag 0'),
  ),
  contract(
    'rule A4: nack multiple beyond the last tag is refused',
    async (_session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'one');
      await channel.get('work');
      return attempt(channel.nack(2, { multiple: true, requeue: false }));
    },
    soft(406, '60.120', 'unknown delivery tag 2'),
  ),
  contract(
    'rule A5: settling a message of a deleted queue is accepted in silence',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'one', 'two');
      await take(channel, 'work', 2);
      await channel.deleteQueue('work');
      const settled = [await attempt(channel.reject(1, false)), await attempt(channel.ack(2))];
      return [...settled, bodies(await session.drain('dead'))];
    },
    ['ok', 'ok', []],
  ),
  contract(
    'rule A7: without a DLX, or with one that does not exist, the message is dropped in silence',
    async (session, channel) => {
      await channel.declareQueue('plain');
      await channel.declareQueue('lost', { arguments: args({ 'x-dead-letter-exchange': 'nowhere' }) });
      await channel.declareQueue('brief', {
        arguments: args({ 'x-dead-letter-exchange': 'nowhere', 'x-message-ttl': 0, 'x-max-length': 1 }),
      });
      for (const queue of ['plain', 'lost', 'brief']) await send(channel, queue, queue);
      await session.settle();
      await channel.get('plain');
      await channel.get('lost');
      const seen = [await attempt(channel.reject(1, false)), await attempt(channel.reject(2, false))];
      for (const queue of ['plain', 'lost', 'brief']) seen.push((await session.drain(queue)).length);
      return seen;
    },
    ['ok', 'ok', 0, 0, 0],
  ),
  contract(
    'rule A8: acked, no-ack, purged and deleted messages are not dead-lettered',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'acked', 'no-ack', 'purged');
      await channel.get('work');
      await channel.ack(1);
      await channel.get('work', { noAck: true });
      const purged = await channel.purgeQueue('work');
      await send(channel, 'work', 'deleted');
      const deleted = await channel.deleteQueue('work');
      return [purged, deleted, bodies(await session.drain('dead'))];
    },
    [1, 1, []],
  ),
  contract(
    'rule A8: requeued messages, and those of a closed channel, are not dead-lettered',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'one', 'two');
      await channel.get('work');
      await channel.reject(1, true);
      await take(channel, 'work', 2);
      await channel.close();
      return [bodies(await session.drain('work')), bodies(await session.drain('dead'))];
    },
    [['one', 'two'], []],
  ),
  contract(
    'rule A8: an expiring queue, an auto-deleted one and an exclusive one lose their messages',
    async (session, channel) => {
      await channel.declareExchange('dlx', 'fanout');
      await channel.declareQueue('dead');
      await channel.bindQueue('dead', 'dlx');
      const dlx = { 'x-dead-letter-exchange': 'dlx' };
      await channel.declareQueue('expiring', { arguments: args({ ...dlx, 'x-expires': 100 }) });
      await channel.declareQueue('passing', { autoDelete: true, arguments: args(dlx) });
      const connection = await session.connect();
      const owner = await connection.channel();
      await owner.declareQueue('mine', { exclusive: true, arguments: args(dlx) });
      for (const queue of ['expiring', 'passing', 'mine']) await send(channel, queue, queue);
      const consumer = await channel.consume('passing');
      await channel.cancel(consumer.tag);
      await connection.close();
      await session.elapse(250);
      const left = [];
      for (const queue of ['expiring', 'passing', 'mine'])
        left.push(await attempt((await session.channel()).declareQueue(queue, { passive: true })));
      return [left, bodies(await session.drain('dead'))];
    },
    [['expiring', 'passing', 'mine'].map((queue) => soft(404, '50.10', `no queue '${queue}' in vhost 'V'`)), []],
  ),
  contract(
    'rule A9: an unroutable dead letter is dropped, without a return to the publisher',
    async (session, channel) => {
      await channel.declareExchange('dlx', 'direct');
      await channel.declareQueue('work', {
        arguments: args({ 'x-dead-letter-exchange': 'dlx', 'x-message-ttl': 0 }),
      });
      await channel.confirmSelect();
      await channel.publish('', 'work', { body: 'one', mandatory: true });
      await session.settle();
      return [channel.confirms(), channel.returns];
    },
    [{ acked: [1], nacked: [], pending: [] }, []],
  ),
  contract(
    'rule A10: a dead letter has left its queue',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'one', 'two');
      await channel.get('work');
      await channel.reject(1, false);
      await session.settle();
      const { messageCount } = await channel.declareQueue('work', { passive: true });
      return [messageCount, bodies(await session.drain('work')), bodies(await session.drain('dead'))];
    },
    [1, ['two'], ['one']],
  ),
];
