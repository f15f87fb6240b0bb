import {
  args,
  attempt,
  bodies,
  contract,
  deaths,
  hard,
  header,
  send,
  soft,
  workAndDead,
  since4,
  type Case,
} from '../contract.js';
import type { Session, TestChannel } from '../driver.js';

const quorum = { 'x-queue-type': 'quorum' };
const durable = { durable: true };

/** Takes the first message and gives it back, so often; says how it came each time. */
async function returnOften(session: Session, channel: TestChannel, times: number): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (let time = 0; time < times; time += 1) {
    await session.settle();
    const message = await channel.get('work');
    seen.push(message && [message.redelivered, header(session, message, 'x-delivery-count')]);
    if (message) await channel.reject(message.deliveryTag, true);
  }
  return seen;
}

/** Section D: quorum queues. */
export const quorumQueueCases: readonly Case[] = [
  ...(
    [
      ['non-durable', {}],
      ['exclusive-owner', { durable: true, exclusive: true }],
      ['auto-delete', { durable: true, autoDelete: true }],
    ] as const
  ).map(([property, options]) =>
    contract(
      `rule D1: a quorum queue cannot be ${property}`,
      async (_session, channel) => attempt(channel.declareQueue('q', { ...options, arguments: args(quorum) })),
      soft(406, '50.10', `invalid property '${property}' for queue 'q' in vhost 'V'`),
    ),
  ),
  contract(
    'rule D1: a quorum queue cannot be server-named',
    async (_session, channel) => attempt(channel.declareQueue('', { durable: true, arguments: args(quorum) })),
    soft(406, '50.10', 'Cannot declare a server-named queue for type rabbit_quorum_queue'),
  ),
  contract(
    'rule D2: with delivery limit N a message is delivered N+1 times, then dead-lettered as delivery_limit',
    async (session, channel) => {
      await workAndDead(channel, { ...quorum, 'x-delivery-limit': 2 }, durable);
      await send(channel, 'work', 'one');
      const seen = await returnOften(session, channel, 4);
      return [seen, deaths((await session.drain('dead'))[0])];
    },
    [[[false, since4(['l', 0], undefined)], [true, ['l', 1]], [true, ['l', 2]], undefined], ['work/delivery_limit 1']],
  ),
  contract(
    'rule D2: with limit 0 it is delivered once; without a DLX it is dropped',
    async (session, channel) => {
      await channel.declareQueue('work', { ...durable, arguments: args({ ...quorum, 'x-delivery-limit': 0 }) });
      await send(channel, 'work', 'one');
      return returnOften(session, channel, 2);
    },
    [[false, since4(['l', 0], undefined)], undefined],
  ),
  contract(
    'rule D2, rule W6: a negative limit by argument is as good as 0, and since 4 none',
    async (session, channel) => {
      await workAndDead(channel, { ...quorum, 'x-delivery-limit': -1 }, durable);
      await send(channel, 'work', 'one');
      const seen = await returnOften(session, channel, 2);
      return [seen, deaths((await session.drain('dead'))[0])];
    },
    since4(
      [[[false, ['l', 0]], undefined], ['work/delivery_limit 1']],
      [
        [
          [false, undefined],
          [true, ['l', 1]],
        ],
        [],
      ],
    ),
  ),
  contract(
    'rule D2: the loss of the channel counts, and of argument and policy the smaller limit holds',
    async (session, channel) => {
      await workAndDead(channel, { ...quorum, 'x-delivery-limit': 5 }, durable);
      await session.setPolicy('wary', { pattern: 'work', definition: { 'delivery-limit': 1 } });
      await send(channel, 'work', 'one');
      for (const _ of [1, 2]) {
        await session.settle();
        const passing = await session.channel();
        await passing.get('work');
        await passing.close();
      }
      return deaths((await session.drain('dead'))[0]);
    },
    ['work/delivery_limit 1'],
  ),
  contract(
    'rule D3: to a consumer the first delivery shows no x-delivery-count, later ones an int64',
    async (session, channel) => {
      await workAndDead(channel, quorum, durable);
      const consumer = await channel.consume('work');
      await send(channel, 'work', 'one');
      for (const tag of [1, 2]) {
        await session.settle();
        await channel.nack(tag, { requeue: true });
      }
      await session.settle();
      return consumer.messages.map((message) => [message.redelivered, header(session, message, 'x-delivery-count')]);
    },
    [
      [false, undefined],
      [true, since4(['l', 1], undefined)],
      [true, since4(['l', 2], undefined)],
    ],
  ),
  contract(
    'rule D4: the dead letter does not carry the count, and a forged one does not count',
    async (session, channel) => {
      await workAndDead(channel, { ...quorum, 'x-delivery-limit': 3 }, durable);
      const headers = args({ 'x-delivery-count': { type: 'l', value: 99 } });
      await channel.publish('', 'work', { body: 'one', properties: { headers } });
      await session.settle();
      const consumer = await channel.consume('work');
      await session.settle();
      await channel.reject(1, true);
      await session.settle();
      await channel.reject(2, false);
      const dead = await session.drain('dead');
      return [consumer.messages.map((message) => header(session, message, 'x-delivery-count')), deaths(dead[0])];
    },
    [
      [
        ['l', 99],
        ['l', 1],
      ],
      ['work/rejected 1'],
    ],
  ),
  contract(
    'rule D4: basic.get shows the real count although a client forged one',
    async (session, channel) => {
      await channel.declareQueue('work', { ...durable, arguments: args(quorum) });
      const headers = args({ 'x-delivery-count': { type: 'l', value: 99 } });
      await channel.publish('', 'work', { body: 'one', properties: { headers } });
      await session.settle();
      return header(session, await channel.get('work'), 'x-delivery-count');
    },
    ['l', since4(0, 99)],
  ),
  contract(
    'rule D4: a counted message dies without x-delivery-count',
    async (session, channel) => {
      await workAndDead(channel, quorum, durable);
      await send(channel, 'work', 'one');
      await returnOften(session, channel, 2);
      await session.settle();
      await channel.reject((await channel.get('work'))?.deliveryTag ?? 0, false);
      return header(session, (await session.drain('dead'))[0], 'x-delivery-count') ?? 'none';
    },
    'none',
  ),
  contract(
    'rule D6: TTL works at the head as in classic queues',
    async (session, channel) => {
      await workAndDead(channel, quorum, durable);
      await channel.publish('', 'work', { body: 'late', properties: { expiration: '1200' } });
      await channel.publish('', 'work', { body: 'early', properties: { expiration: '50' } });
      await session.elapse(150);
      const before = bodies(await session.drain('dead'));
      await session.elapse(1300);
      const dead = await session.drain('dead');
      return [before, bodies(dead), deaths(dead[0])];
    },
    [[], ['late', 'early'], ['work/expired 1']],
  ),
  contract(
    'rule D8: the delivery mode stays as sent',
    async (session, channel) => {
      await channel.declareQueue('work', { ...durable, arguments: args(quorum) });
      await channel.publish('', 'work', { properties: { deliveryMode: 1 } });
      await channel.publish('', 'work');
      return (await session.drain('work')).map(({ properties }) => properties.deliveryMode ?? 'none');
    },
    [1, 'none'],
  ),
  ...(
    [
      ['x-max-priority', 5, quorum, 'rabbit_quorum_queue'],
      ['x-queue-mode', 'lazy', quorum, 'rabbit_quorum_queue'],
      ['x-delivery-limit', 5, {}, 'rabbit_classic_queue'],
      ['x-dead-letter-strategy', 'at-least-once', {}, 'rabbit_classic_queue'],
    ] as const
  ).map(([name, value, type, typeName]) =>
    contract(
      `rule D9: ${name} is refused by ${typeName}`,
      async (_session, channel) =>
        attempt(channel.declareQueue('q', { ...durable, arguments: args({ ...type, [name]: value }) })),
      soft(406, '50.10', `invalid arg '${name}' for queue 'q' in vhost 'V' of queue type ${typeName}`),
    ),
  ),
  contract(
    'rule D10, rule W12: no consumer on a channel with global prefetch, which 4 takes for that of each consumer',
    async (_session, channel) => {
      await channel.declareQueue('q', { ...durable, arguments: args(quorum) });
      await channel.qos(5, { global: true });
      return attempt(channel.consume('q'));
    },
    since4(hard(540, '60.20', "queue 'q' in vhost 'V' does not support global qos"), 'ok'),
  ),
  ...(['if-empty', 'if-unused'] as const).map((flag) =>
    contract(
      `rule D10: queue.delete with ${flag} is not implemented`,
      async (_session, channel) => {
        await channel.declareQueue('q', { ...durable, arguments: args(quorum) });
        const options = flag === 'if-empty' ? { ifEmpty: true } : { ifUnused: true };
        return attempt(channel.deleteQueue('q', options));
      },
      hard(
        540,
        '50.40',
        `cannot delete queue 'q' in vhost 'V'. queue.delete operations with ${flag} flag set are not supported by quorum queues`,
      ),
    ),
  ),
  contract(
    'rule D11: the overflow of the policy beats that of the argument',
    async (session, channel) => {
      await session.setPolicy('full', { pattern: 'work', definition: { overflow: 'drop-head' } });
      const full = { 'x-max-length': 1, 'x-overflow': 'reject-publish' };
      await workAndDead(channel, { ...quorum, ...full }, durable);
      await send(channel, 'work', 'a', 'b', 'c');
      return [bodies(await session.drain('dead')), bodies(await session.drain('work'))];
    },
    [['a', 'b'], ['c']],
  ),
  contract(
    'rule D12: the cycle rule is the same: a quorum queue that expires into itself ends there',
    async (session, channel) => {
      const self = { 'x-dead-letter-exchange': '', 'x-message-ttl': 50 };
      await channel.declareQueue('work', { ...durable, arguments: args({ ...quorum, ...self }) });
      await send(channel, 'work', 'one');
      await session.elapse(250);
      return bodies(await session.drain('work'));
    },
    [],
  ),
];
