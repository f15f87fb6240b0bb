import { args, bodies, contract, deaths, fates, send, take, virtualTimeOnly, type Case } from '../contract.js';
import type { TestChannel } from '../driver.js';

const quorum = { 'x-queue-type': 'quorum' };
const atLeastOnce = { ...quorum, 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' };

/** `work` dead-letters at least once by the direct exchange `dlx` with the key `dead`; nothing is bound yet. */
async function arrange(channel: TestChannel, values: Parameters<typeof args>[0] = {}): Promise<void> {
  await channel.declareExchange('dlx', 'direct');
  await channel.declareQueue('dead');
  const dlx = { 'x-dead-letter-exchange': 'dlx', 'x-dead-letter-routing-key': 'dead' };
  await channel.declareQueue('work', { durable: true, arguments: args({ ...dlx, ...atLeastOnce, ...values }) });
}

const ready = async (channel: TestChannel) => (await channel.declareQueue('work', { passive: true })).messageCount;

/** Section M: dead-lettering at least once. */
export const atLeastOnceCases: readonly Case[] = [
  contract(
    'rule M1: with drop-head it falls back to at-most-once: an unroutable dead letter is lost',
    async (session, channel) => {
      await arrange(channel, { 'x-overflow': 'drop-head', 'x-message-ttl': 60 });
      await send(channel, 'work', 'lost');
      await session.elapse(200);
      await channel.bindQueue('dead', 'dlx', 'dead');
      await send(channel, 'work', 'found');
      await session.elapse(250);
      return bodies(await session.drain('dead'));
    },
    ['found'],
  ),
  contract(
    'rule M2: rejected messages arrive with their history as usual',
    async (session, channel) => {
      await arrange(channel);
      await channel.bindQueue('dead', 'dlx', 'dead');
      await send(channel, 'work', 'one');
      await session.settle();
      await channel.get('work');
      await channel.reject(1, false);
      await session.elapse(100);
      return (await session.drain('dead')).map((message) => [message.body, ...deaths(message)]);
    },
    [['one', 'work/rejected 1']],
  ),
  contract(
    'rule M2: expired and over-delivered messages too',
    async (session, channel) => {
      await arrange(channel, { 'x-delivery-limit': 0 });
      await channel.bindQueue('dead', 'dlx', 'dead');
      await channel.publish('', 'work', { body: 'late', properties: { expiration: '60' } });
      await session.elapse(250);
      await send(channel, 'work', 'often');
      await session.settle();
      await channel.reject((await channel.get('work'))?.deliveryTag ?? 0, true);
      await session.elapse(100);
      return (await session.drain('dead')).map((message) => [message.body, ...deaths(message)]);
    },
    [
      ['late', 'work/expired 1'],
      ['often', 'work/delivery_limit 1'],
    ],
  ),
  contract(
    'rule M3: an unroutable dead letter is kept, but no longer ready',
    async (session, channel) => {
      await arrange(channel);
      await send(channel, 'work', 'one', 'two');
      await session.settle();
      await channel.get('work');
      await channel.reject(1, false);
      await session.settle();
      return [await ready(channel), bodies(await session.drain('work'))];
    },
    [1, ['two']],
  ),
  virtualTimeOnly(
    'the retry comes after three minutes',
    contract(
      'rule M3: it is tried again every 180 seconds, and arrives once there is a binding',
      async (session, channel) => {
        await arrange(channel);
        await send(channel, 'work', 'one');
        await channel.get('work');
        await channel.reject(1, false);
        await channel.bindQueue('dead', 'dlx', 'dead');
        await session.elapse(100_000);
        const early = bodies(await session.drain('dead'));
        await session.elapse(100_000);
        return [early, (await session.drain('dead')).map((message) => [message.body, ...deaths(message)])];
      },
      [[], [['one', 'work/rejected 1']]],
    ),
  ),
  virtualTimeOnly(
    'the next try would come after three minutes',
    contract(
      'rule M4: leaving the strategy deletes the dead letters that were kept',
      async (session, channel) => {
        await session.setPolicy('strategy', {
          pattern: 'work',
          definition: { 'dead-letter-strategy': 'at-least-once' },
        });
        await channel.declareExchange('dlx', 'direct');
        await channel.declareQueue('dead');
        const values = { ...quorum, 'x-dead-letter-exchange': 'dlx', 'x-overflow': 'reject-publish' };
        await channel.declareQueue('work', { durable: true, arguments: args(values) });
        await send(channel, 'work', 'kept');
        await channel.get('work');
        await channel.reject(1, false);
        await session.clearPolicy('strategy');
        await channel.bindQueue('dead', 'dlx', 'work');
        await session.elapse(400_000);
        await session.setPolicy('strategy', {
          pattern: 'work',
          definition: { 'dead-letter-strategy': 'at-least-once' },
        });
        await session.elapse(400_000);
        return bodies(await session.drain('dead'));
      },
      [],
    ),
  ),
  contract(
    'rule M5: kept dead letters count towards the length limit',
    async (session, channel) => {
      await arrange(channel, { 'x-max-length': 5 });
      await fates(session, channel, 'kept', 'kept', 'kept', 'next');
      for (const { deliveryTag } of await take(channel, 'work', 3)) await channel.reject(deliveryTag, false);
      await session.elapse(100);
      const seen = await fates(session, channel, 'next', 'next', 'next');
      for (let count = 0; count < 2; count += 1) {
        await channel.get('work', { noAck: true });
        seen.push(...(await fates(session, channel, 'next')));
      }
      return seen;
    },
    ['ack', 'ack', 'nack', 'nack', 'ack'],
  ),
];
