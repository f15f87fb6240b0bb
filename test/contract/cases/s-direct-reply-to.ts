import { array, longstr } from '../../../libs/dlx-broker/src/engine/message/index.js';
import { attempt, bodies, contract, soft, absent, since4, type Case } from '../contract.js';
import type { Session, TestChannel } from '../driver.js';

const replyTo = 'amq.rabbitmq.reply-to';

/** Asks by direct reply-to; says at which address the answer is awaited. */
async function ask(session: Session, channel: TestChannel) {
  const replies = await channel.consume(replyTo, { noAck: true });
  await channel.declareQueue('requests');
  await channel.publish('', 'requests', { body: 'question', properties: { replyTo } });
  const [request] = await session.drain('requests');
  return { replies, address: request?.properties.replyTo ?? '' };
}

/** Section S: direct reply-to. */
export const directReplyToCases: readonly Case[] = [
  contract(
    'rule S1: the broker puts an address in place of the name, and answers to it arrive',
    async (session, channel) => {
      const { replies, address } = await ask(session, channel);
      await (await session.channel()).publish('', address, { body: 'answer', properties: { correlationId: '7' } });
      await session.settle();
      const [reply] = replies.messages;
      const { exchange, routingKey = '', redelivered, properties } = reply ?? {};
      return [
        session.plain(address),
        bodies(replies.messages),
        exchange,
        session.plain(routingKey),
        redelivered,
        properties?.correlationId,
      ];
    },
    [`${replyTo}.TOKEN`, ['answer'], '', `${replyTo}.TOKEN`, false, '7'],
  ),
  contract(
    'rule S1: asking needs a reply consumer',
    async (_session, channel) => attempt(channel.publish('', 'requests', { properties: { replyTo } })),
    soft(406, '60.40', 'fast reply consumer does not exist'),
  ),
  contract(
    'rule S1: the reply consumer does not acknowledge',
    async (_session, channel) => attempt(channel.consume(replyTo)),
    soft(406, '60.20', 'reply consumer cannot acknowledge'),
  ),
  contract(
    'rule S1: a channel has one reply consumer',
    async (_session, channel) => {
      await channel.consume(replyTo, { noAck: true });
      return attempt(channel.consume(replyTo, { noAck: true }));
    },
    soft(406, '60.20', 'reply consumer already set'),
  ),
  contract(
    'rule S2: a declare of the address tells whether the requester lives',
    async (session, channel) => {
      const other = await session.channel();
      const requester = await session.channel();
      const { address } = await ask(session, requester);
      const alive = await other.declareQueue(address, { passive: true });
      await requester.close();
      await session.settle();
      const gone = (await attempt(other.declareQueue(address, { passive: true }))) as { code: number; text: string };
      return [
        alive.consumerCount,
        alive.messageCount,
        gone.code,
        session.plain(gone.text),
        await attempt(channel.get('requests')),
      ];
    },
    [1, 0, 404, `NOT_FOUND - no queue '${replyTo}.TOKEN' in vhost 'V'`, 'ok'],
  ),
  contract(
    'rule S2: a mandatory answer is returned until 4, also when the requester gets it',
    async (session, channel) => {
      const { replies, address } = await ask(session, channel);
      const other = await session.channel();
      await other.publish('', address, { body: 'answer', mandatory: true });
      await session.settle();
      return [bodies(replies.messages), other.returns.map(({ code, body }) => [code, body])];
    },
    [['answer'], [since4([312, 'answer'], absent)]],
  ),
  contract(
    'rule S2: since 4 it is not returned when the requester is gone, and a confirm acks it',
    async (session, channel) => {
      const requester = await session.channel();
      const { address } = await ask(session, requester);
      await requester.close();
      await session.settle();
      await channel.confirmSelect();
      await channel.publish('', address, { body: 'answer', mandatory: true });
      await session.settle();
      return [channel.returns.length, channel.confirms().acked.length];
    },
    [since4(1, 0), 1],
  ),
  contract(
    'rule S2: an answer also leaves by a CC header, and is returned until 4',
    async (session, channel) => {
      const { replies, address } = await ask(session, channel);
      const headers = new Map([['CC', array([longstr(address)])]]);
      await channel.publish('', 'nowhere', { body: 'answer', mandatory: true, properties: { headers } });
      await session.settle();
      return [bodies(replies.messages), channel.returns.length];
    },
    [['answer'], since4(1, 0)],
  ),
  contract(
    'rule S2: an address that cannot be one is returned',
    async (session, channel) => {
      await channel.publish('', 'amq.rabbitmq.reply-to.nonsense', { mandatory: true });
      await channel.publish('', 'amq.rabbitmq.reply-to', { mandatory: true });
      await session.settle();
      return channel.returns.length;
    },
    2,
  ),
];
