import { array, longstr } from '../../../libs/dlx-broker/src/engine/message/index.js';
import { args, bodies, contract, deaths, fates, send, take, workAndDead, since4, type Case } from '../contract.js';

const quorum = { 'x-queue-type': 'quorum' };
const refusing = { ...quorum, 'x-overflow': 'reject-publish' };
const durable = { durable: true };

/** Section D: length limits of quorum queues. */
export const quorumLimitCases: readonly Case[] = [
  contract(
    'rule D7: reject-publish-dlx is accepted but acts as drop-head',
    async (session, channel) => {
      const full = { 'x-max-length': 1, 'x-overflow': 'reject-publish-dlx' };
      await workAndDead(channel, { ...quorum, ...full }, durable);
      await channel.confirmSelect();
      await send(channel, 'work', 'a', 'b');
      const dead = await session.drain('dead');
      return [bodies(dead), deaths(dead[0]), channel.confirms().acked, bodies(await session.drain('work'))];
    },
    [['a'], ['work/maxlen 1'], [1, 2], ['b']],
  ),
  contract(
    'rule D7: reject-publish takes one message above the limit, and refuses until four fifths are left',
    async (session, channel) => {
      await channel.declareQueue('work', { ...durable, arguments: args({ ...refusing, 'x-max-length': 10 }) });
      const fills = await fates(session, channel, ...Array<string>(13).fill('m'));
      const gets: string[] = [];
      for (let left = 10; left > 6; left -= 1) {
        await channel.get('work', { noAck: true });
        gets.push(...(await fates(session, channel, 'm')));
      }
      return [fills.join(' '), gets];
    },
    ['ack '.repeat(11) + 'nack nack', ['nack', 'nack', 'ack', 'ack']],
  ),
  contract(
    'rule D7: four fifths are rounded down, and one message is taken even with max-length 0',
    async (session, channel) => {
      const seen: string[] = [];
      for (const limit of [0, 1, 2, 3, 5]) {
        await channel.deleteQueue('work');
        await channel.declareQueue('work', { ...durable, arguments: args({ ...refusing, 'x-max-length': limit }) });
        await fates(session, channel, ...Array<string>(limit + 2).fill('m'));
        let ready = limit + 1;
        do {
          await channel.get('work', { noAck: true });
          ready -= 1;
        } while ((await fates(session, channel, 'm'))[0] === 'nack');
        seen.push(`${limit}: ${ready}`);
      }
      return seen;
    },
    ['0: 0', '1: 0', '2: 1', '3: 2', '5: 4'],
  ),
  contract(
    'rule D7: bytes alike, whatever the size of the message',
    async (session, channel) => {
      await channel.declareQueue('work', { ...durable, arguments: args({ ...refusing, 'x-max-length-bytes': 10 }) });
      const seen = await fates(session, channel, 'aaaaa', 'bbbb', 'a long body', 'c');
      for (let count = 0; count < 3; count += 1) {
        await channel.get('work', { noAck: true });
        seen.push(...(await fates(session, channel, 'c')));
      }
      return seen;
    },
    since4(['ack', 'ack', 'ack', 'nack', 'nack', 'nack', 'ack'], ['ack', 'ack', 'nack', 'nack', 'ack', 'ack', 'ack']),
  ),
  ...[162, 161].map((limit) =>
    contract(
      `rule D7: a limit of ${limit} bytes counts 23 for each message, since 4 its properties, too: 81`,
      async (session, channel) => {
        const values = { ...refusing, 'x-max-length-bytes': limit };
        await channel.declareQueue('work', { ...durable, arguments: args(values) });
        const headers = args({ a: 'b', n: 1, BCC: array([longstr('x')]) });
        const texts = { contentType: 'text/plain', correlationId: 'c', replyTo: 'ré', messageId: 'm', type: 't' };
        const properties = { ...texts, headers, deliveryMode: 2, priority: 1, timestamp: 5, expiration: '60000' };
        await channel.confirmSelect();
        for (let count = 0; count < 5; count++) {
          await channel.publish('', 'work', { body: 'x'.repeat(23), properties });
          await session.settle();
        }
        return channel.confirms().nacked.length;
      },
      since4(0, limit === 162 ? 2 : 3),
    ),
  ),
  contract(
    'rule D7: the deaths of a message are no bytes of it, but its former expiration is',
    async (session, channel) => {
      await channel.declareQueue('few', { ...durable, arguments: args({ ...quorum, 'x-max-length-bytes': 10 }) });
      await workAndDead(channel);
      await channel.bindQueue('few', 'dlx');
      for (const body of ['a', 'b', 'c']) await channel.publish('', 'work', { body, properties: { expiration: '1' } });
      await session.elapse(100);
      return bodies(await session.drain('few'));
    },
    since4(['a', 'b', 'c'], ['b', 'c']),
  ),
  contract(
    'rule V10: drop-head by policy ends the refusal',
    async (session, channel) => {
      await channel.declareQueue('work', { ...durable, arguments: args({ ...refusing, 'x-max-length': 1 }) });
      const seen = await fates(session, channel, 'a', 'b', 'c');
      await session.setPolicy('drop', { pattern: 'work', definition: { overflow: 'drop-head' } });
      await session.elapse(100);
      return [...seen, ...(await fates(session, channel, 'd'))];
    },
    ['ack', 'ack', 'nack', 'ack'],
  ),
  contract(
    'rule V11: a queue that refuses does so to a channel that comes later, too',
    async (session, channel) => {
      await channel.declareQueue('work', { ...durable, arguments: args({ ...refusing, 'x-max-length': 1 }) });
      const seen = await fates(session, channel, 'a', 'b', 'c');
      await channel.get('work', { noAck: true });
      return [...seen, ...(await fates(session, await session.channel(), 'd'))];
    },
    ['ack', 'ack', 'nack', 'nack'],
  ),
  contract(
    'rule D7: what comes back to the queue counts, and so it may refuse without a publish',
    async (session, channel) => {
      await channel.declareQueue('work', { ...durable, arguments: args({ ...refusing, 'x-max-length': 3 }) });
      const seen = await fates(session, channel, 'm', 'm', 'm');
      await take(channel, 'work', 2);
      seen.push(...(await fates(session, channel, 'm')));
      await channel.nack(2, { multiple: true, requeue: true });
      await session.settle();
      await take(channel, 'work', 1);
      seen.push(...(await fates(session, channel, 'm')));
      await take(channel, 'work', 1);
      return [...seen, ...(await fates(session, channel, 'm'))];
    },
    ['ack', 'ack', 'ack', 'ack', 'nack', 'ack'],
  ),
  contract(
    'rule D7: a higher limit by policy ends the refusal, if the queue has no more than four fifths of it',
    async (session, channel) => {
      const limit = async (maxLength: number): Promise<void> => {
        const definition = { 'max-length': maxLength, overflow: 'reject-publish' };
        await session.setPolicy('limit', { pattern: 'work', definition });
        await session.elapse(100);
      };
      await limit(5);
      await channel.declareQueue('work', { ...durable, arguments: args(quorum) });
      await fates(session, channel, ...Array<string>(7).fill('m'));
      await channel.get('work', { noAck: true });
      await limit(6);
      const seen = await fates(session, channel, 'm');
      await limit(10);
      seen.push(...(await fates(session, channel, 'm')));
      await limit(3);
      return [...seen, ...(await fates(session, channel, 'm'))];
    },
    ['nack', 'ack', 'nack'],
  ),
  contract(
    'rule C14: max-length and reject-publish in one policy drop nothing from a quorum queue',
    async (session, channel) => {
      await workAndDead(channel, quorum, durable);
      await send(channel, 'work', 'a', 'b', 'c');
      await session.settle();
      const definition = { 'max-length': 1, overflow: 'reject-publish' };
      await session.setPolicy('short', { pattern: 'work', definition });
      await session.elapse(100);
      return [bodies(await session.drain('dead')), bodies(await session.drain('work'))];
    },
    [[], ['a', 'b', 'c']],
  ),
  ...['classic', 'quorum'].map((type) =>
    contract(
      `rule C13: a full quorum queue with reject-publish takes the at-most-once dead letters of a ${type} queue`,
      async (session, channel) => {
        await channel.declareQueue('target', { ...durable, arguments: args({ ...refusing, 'x-max-length': 3 }) });
        const to = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'target', 'x-queue-type': type };
        await channel.declareQueue('work', { ...durable, arguments: args(to) });
        await send(channel, 'work', 'a', 'b', 'c', 'd', 'e', 'f');
        await session.settle();
        await take(channel, 'work', 6);
        await channel.nack(0, { multiple: true, requeue: false });
        await session.elapse(100);
        return bodies(await session.drain('target'));
      },
      ['a', 'b', 'c', 'd', 'e', 'f'],
    ),
  ),
];
