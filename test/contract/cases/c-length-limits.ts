import { args, bodies, contract, deaths, header, send, take, workAndDead, type Case } from '../contract.js';

const everything = { acked: [], nacked: [], pending: [] };

/** Section C: length limits and what a full queue does. */
export const lengthLimitCases: readonly Case[] = [
  contract(
    'rule C1: max-length counts messages; the oldest die as maxlen',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length': 2 });
      await send(channel, 'work', 'a', 'b', 'c', 'd');
      const dead = await session.drain('dead');
      return [bodies(dead), deaths(dead[0]), bodies(await session.drain('work'))];
    },
    [['a', 'b'], ['work/maxlen 1'], ['c', 'd']],
  ),
  contract(
    'rule C1: max-length-bytes counts bodies only, so empty ones never hit it',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length-bytes': 5 });
      const heavy = args({ header: 'a long header that weighs nothing' });
      await channel.publish('', 'work', { body: '12345', properties: { headers: heavy } });
      await send(channel, 'work', '', '', '');
      const early = bodies(await session.drain('dead'));
      await send(channel, 'work', '6');
      return [early, bodies(await session.drain('dead')), bodies(await session.drain('work'))];
    },
    [[], ['12345'], ['', '', '', '6']],
  ),
  contract(
    'rule C1: of both limits the one exceeded first counts',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length': 3, 'x-max-length-bytes': 6 });
      await send(channel, 'work', 'aaa', 'bbb', 'c');
      const bytes = bodies(await session.drain('dead'));
      await send(channel, 'work', '', '');
      return [bytes, bodies(await session.drain('dead'))];
    },
    [['aaa'], ['bbb']],
  ),
  contract(
    'rule C2: unacked messages do not count',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length': 2 });
      await send(channel, 'work', 'a', 'b');
      await take(channel, 'work', 2);
      await send(channel, 'work', 'c', 'd');
      return [bodies(await session.drain('dead')), bodies(await session.drain('work'))];
    },
    [[], ['c', 'd']],
  ),
  contract(
    'rule C3, rule C4: drop-head by name offers to a ready consumer first, even with max-length 0',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length': 0, 'x-overflow': 'drop-head' });
      await channel.qos(1);
      const consumer = await channel.consume('work');
      await send(channel, 'work', 'taken', 'dropped');
      await session.settle();
      return [bodies(consumer.messages), bodies(await session.drain('dead'))];
    },
    [['taken'], ['dropped']],
  ),
  contract(
    'rule C5: a message larger than max-length-bytes pushes out everything and itself',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length-bytes': 4 });
      await send(channel, 'work', 'a', 'bb', 'ccccc');
      return [bodies(await session.drain('dead')), bodies(await session.drain('work'))];
    },
    [['a', 'bb', 'ccccc'], []],
  ),
  contract(
    'rule C5: with max-length 0 and no consumer every message dies at once',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length': 0 });
      await send(channel, 'work', 'a', 'b');
      return [bodies(await session.drain('dead')), bodies(await session.drain('work'))];
    },
    [['a', 'b'], []],
  ),
  contract(
    'rule C6: a requeue over the limit drops from the head, the requeued ones first',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length': 2 });
      await send(channel, 'work', 'a', 'b');
      await take(channel, 'work', 2);
      await send(channel, 'work', 'c', 'd');
      await channel.nack(2, { multiple: true, requeue: true });
      return [bodies(await session.drain('dead')), bodies(await session.drain('work'))];
    },
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ),
  contract(
    'rule C7: reject-publish refuses the new message with a nack and dead-letters nothing',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length': 1, 'x-overflow': 'reject-publish' });
      await channel.confirmSelect();
      await send(channel, 'work', 'a', 'b', 'c');
      await session.settle();
      return [channel.confirms(), bodies(await session.drain('work')), bodies(await session.drain('dead'))];
    },
    [{ ...everything, acked: [1], nacked: [2, 3] }, ['a'], []],
  ),
  contract(
    'rule C7: without confirm mode the refusal is silent',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length': 1, 'x-overflow': 'reject-publish' });
      await send(channel, 'work', 'a', 'b');
      return [bodies(await session.drain('work')), bodies(await session.drain('dead')), channel.log];
    },
    [['a'], [], []],
  ),
  contract(
    'rule C7: the bytes are checked before any delivery, so a waiting consumer does not help',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length-bytes': 3, 'x-overflow': 'reject-publish' });
      const consumer = await channel.consume('work', { noAck: true });
      await channel.confirmSelect();
      await send(channel, 'work', 'four', 'abc');
      await session.settle();
      return [bodies(consumer.messages), channel.confirms()];
    },
    [['abc'], { ...everything, acked: [2], nacked: [1] }],
  ),
  contract(
    'rule C8: reject-publish-dlx also dead-letters the refused message as maxlen',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length': 1, 'x-overflow': 'reject-publish-dlx' });
      await send(channel, 'work', 'a', 'silent');
      await channel.confirmSelect();
      await send(channel, 'work', 'told');
      const dead = await session.drain('dead');
      return [bodies(dead), deaths(dead[0]), channel.confirms(), bodies(await session.drain('work'))];
    },
    [['silent', 'told'], ['work/maxlen 1'], { ...everything, nacked: [1] }, ['a']],
  ),
  contract(
    'rule C8: reject-publish-dlx without a DLX only refuses',
    async (session, channel) => {
      await channel.declareQueue('work', {
        arguments: args({ 'x-max-length': 1, 'x-overflow': 'reject-publish-dlx' }),
      });
      await channel.confirmSelect();
      await send(channel, 'work', 'a', 'b');
      await session.settle();
      return [channel.confirms(), bodies(await session.drain('work'))];
    },
    [{ ...everything, acked: [1], nacked: [2] }, ['a']],
  ),
  ...['reject-publish', 'reject-publish-dlx'].map((overflow) =>
    contract(
      `rule C9: under ${overflow} requeues may exceed the limit`,
      async (session, channel) => {
        await workAndDead(channel, { 'x-max-length': 1, 'x-overflow': overflow });
        await send(channel, 'work', 'a');
        await channel.get('work');
        await send(channel, 'work', 'b');
        await channel.reject(1, true);
        return [bodies(await session.drain('dead')), bodies(await session.drain('work'))];
      },
      [[], ['a', 'b']],
    ),
  ),
  contract(
    'rule C10: one refusing queue of several makes the confirm a nack; the others get the message, nothing returns',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length': 0, 'x-overflow': 'reject-publish' });
      await channel.declareQueue('open');
      await channel.bindQueue('open', 'amq.fanout');
      await channel.bindQueue('work', 'amq.fanout');
      await channel.confirmSelect();
      await channel.publish('amq.fanout', '', { body: 'one', mandatory: true });
      return [bodies(await session.drain('open')), channel.log];
    },
    [['one'], ['nack 1']],
  ),
  contract(
    'rule C11: in a priority queue the highest priority is the head and drops first',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length': 2, 'x-max-priority': 9 });
      for (const priority of [1, 5, 3, 5])
        await channel.publish('', 'work', { body: `p${priority}`, properties: { priority } });
      return [bodies(await session.drain('dead')), bodies(await session.drain('work'))];
    },
    [
      ['p5', 'p5'],
      ['p3', 'p1'],
    ],
  ),
  contract(
    'rule C12: with TTL and max-length together each message dies once, of what struck first',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length': 1, 'x-message-ttl': 150 });
      await send(channel, 'work', 'a', 'b');
      await session.elapse(250);
      return (await session.drain('dead')).map((message) => [message.body, ...deaths(message)]);
    },
    [
      ['a', 'work/maxlen 1'],
      ['b', 'work/expired 1'],
    ],
  ),
  contract(
    'rule C13: a full dead-letter target pushes out its oldest, which may die on',
    async (session, channel) => {
      await channel.declareQueue('end');
      const to = (queue: string) => ({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': queue });
      await channel.declareQueue('middle', { arguments: args({ ...to('end'), 'x-max-length': 1 }) });
      await channel.declareQueue('work', { arguments: args({ ...to('middle'), 'x-message-ttl': 0 }) });
      await send(channel, 'work', 'a', 'b');
      const end = await session.drain('end');
      return [bodies(end), deaths(end[0]), bodies(await session.drain('middle'))];
    },
    [['a'], ['middle/maxlen 1', 'work/expired 1'], ['b']],
  ),
  contract(
    'rule C13: a full reject-publish target loses the dead letter in silence',
    async (session, channel) => {
      const full = { 'x-max-length': 1, 'x-overflow': 'reject-publish' };
      await channel.declareQueue('target', { arguments: args(full) });
      await channel.declareQueue('work', {
        arguments: args({
          'x-dead-letter-exchange': '',
          'x-dead-letter-routing-key': 'target',
          'x-message-ttl': 0,
        }),
      });
      await channel.confirmSelect();
      await send(channel, 'work', 'a', 'b');
      return [bodies(await session.drain('target')), bodies(await session.drain('work')), channel.confirms()];
    },
    [['a'], [], { ...everything, acked: [1, 2] }],
  ),
  contract(
    'rule C14: lowering the limit by a policy dead-letters the excess at once',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'a', 'b', 'c');
      await session.setPolicy('short', { pattern: 'work', definition: { 'max-length': 1 } });
      return [bodies(await session.drain('dead')), bodies(await session.drain('work'))];
    },
    [['a', 'b'], ['c']],
  ),
  contract(
    'rule C14: max-length and reject-publish in one policy still drop the excess of a drop-head queue',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'a', 'b', 'c');
      const definition = { 'max-length': 1, overflow: 'reject-publish' };
      await session.setPolicy('short', { pattern: 'work', definition });
      return [bodies(await session.drain('dead')), bodies(await session.drain('work'))];
    },
    [['a', 'b'], ['c']],
  ),
  contract(
    'rule C14: under reject-publish a lower limit drops nothing',
    async (session, channel) => {
      await workAndDead(channel, { 'x-overflow': 'reject-publish' });
      await send(channel, 'work', 'a', 'b', 'c');
      await session.setPolicy('short', { pattern: 'work', definition: { 'max-length': 1 } });
      return [bodies(await session.drain('dead')), (await session.drain('work')).length];
    },
    [[], 3],
  ),
  contract(
    'rule C1: the first death of an overflowing message names maxlen',
    async (session, channel) => {
      await workAndDead(channel, { 'x-max-length': 0 });
      await send(channel, 'work', 'a');
      return header(session, (await session.drain('dead'))[0], 'x-first-death-reason');
    },
    ['S', 'maxlen'],
  ),
];
