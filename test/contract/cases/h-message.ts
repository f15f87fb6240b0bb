import {
  array,
  int32,
  int64,
  longstr,
  table,
  timestamp,
  type Field,
} from '../../../libs/dlx-broker/src/message/index.js';
import {
  args,
  bodies,
  contract,
  death,
  deaths,
  firstDeath,
  header,
  send,
  take,
  workAndDead,
  type Case,
} from '../contract.js';
import type { PublishOptions, Received, Session, TestChannel } from '../driver.js';
import { normalForm, normalHeaders } from '../normal-form.js';

/** Publishes to `work`, rejects, and hands back the dead letter. */
async function rejected(session: Session, channel: TestChannel, options: PublishOptions = {}): Promise<Received> {
  await channel.publish('', 'work', options);
  const got = await channel.get('work');
  await channel.reject(got?.deliveryTag ?? 0, false);
  const [dead] = await session.drain('dead');
  if (dead === undefined) throw new Error('the dead letter is missing');
  return dead;
}

const samples: readonly Field[] = [
  { type: 't', value: true },
  { type: 'b', value: -7 },
  { type: 'B', value: 200 },
  { type: 's', value: -300 },
  { type: 'u', value: 60_000 },
  { type: 'I', value: -70_000 },
  { type: 'i', value: 4_000_000_000 },
  { type: 'l', value: -5_000_000_000 },
  { type: 'f', value: 1.5 },
  { type: 'd', value: 0.1 },
  { type: 'D', value: { scale: 2, value: 314 } },
  { type: 'S', value: 'text' },
  { type: 'x', value: Uint8Array.of(0, 255, 1) },
  { type: 'T', value: 1_600_000_000 },
  { type: 'A', value: [int32(1), longstr('a'), array([])] },
  { type: 'F', value: args({ inner: { type: 's', value: 5 }, deeper: table(args({ b: { type: 'b', value: 1 } })) }) },
  { type: 'V', value: undefined },
];

/** A forged entry of x-death. */
const entry = (values: Readonly<Record<string, Field | string>>): Field => table(args(values));

/** Section H: what dead-lettering changes in a message. */
export const messageCases: readonly Case[] = [
  contract(
    'rule H1: the exchange becomes the DLX, the key stays the first one, redelivered is false again',
    async (session, channel) => {
      await workAndDead(channel);
      await channel.declareExchange('in', 'fanout');
      await channel.bindQueue('work', 'in');
      const headers = args({ CC: array([longstr('other')]) });
      await channel.publish('in', 'key', { body: 'one', properties: { headers } });
      await channel.get('work');
      await channel.reject(1, true);
      const again = await channel.get('work');
      await channel.reject(2, false);
      const dead = (await session.drain('dead')).map((message) => normalForm(session, message));
      return [again?.redelivered, dead];
    },
    [
      true,
      [
        {
          exchange: 'dlx',
          routingKey: 'key',
          redelivered: false,
          properties: {},
          body: 'one',
          headers: [
            ['CC', 'A', [['S', 'other']]],
            ['x-death', 'A', [death({ queue: 'work', reason: 'rejected', exchange: 'in', keys: ['key', 'other'] })]],
            ...firstDeath('rejected', 'work', 'in'),
          ],
        },
      ],
    ],
  ),
  contract(
    'rule H1: a configured key becomes the visible key',
    async (session, channel) => {
      await workAndDead(channel, { 'x-dead-letter-routing-key': 'grave' });
      return (await rejected(session, channel)).routingKey;
    },
    'grave',
  ),
  ...(['grave', ''] as const).map((key) =>
    contract(
      `rule H2: CC is removed when a dead-letter key is configured, here '${key}'; routing-keys still tell it`,
      async (session, channel) => {
        await workAndDead(channel, { 'x-dead-letter-routing-key': key });
        const headers = args({ CC: array([longstr('cc')]), BCC: array([longstr('bcc')]), other: 'stays' });
        const dead = await rejected(session, channel, { properties: { headers } });
        return normalHeaders(session, dead.properties.headers ?? new Map());
      },
      [
        ['other', 'S', 'stays'],
        ['x-death', 'A', [death({ queue: 'work', reason: 'rejected', keys: ['work', 'cc'] })]],
        ...firstDeath('rejected', 'work'),
      ],
    ),
  ),
  contract(
    'rule H3: expiration goes whatever the reason; all other properties and the body stay',
    async (session, channel) => {
      await workAndDead(channel);
      const dead = await rejected(session, channel, {
        body: 'body',
        properties: {
          contentType: 'text/plain',
          contentEncoding: 'utf-8',
          deliveryMode: 2,
          priority: 3,
          correlationId: 'c',
          replyTo: 'r',
          expiration: '60000',
          messageId: 'm',
          timestamp: 1_600_000_000,
          type: 't',
          userId: 'guest',
          appId: 'a',
          clusterId: 'k',
        },
      });
      return [dead.body, normalForm(session, dead).properties, header(session, dead, 'x-death')];
    },
    [
      'body',
      {
        contentType: 'text/plain',
        contentEncoding: 'utf-8',
        deliveryMode: 2,
        priority: 3,
        correlationId: 'c',
        replyTo: 'r',
        messageId: 'm',
        timestamp: 1_600_000_000,
        type: 't',
        userId: 'guest',
        appId: 'a',
        clusterId: 'k',
      },
      ['A', [death({ queue: 'work', reason: 'rejected', keys: ['work'], expiration: '60000' })]],
    ],
  ),
  contract(
    'rule H3: binary bodies survive',
    async (session, channel) => {
      await workAndDead(channel);
      return (await rejected(session, channel, { body: 'ümläut ☠'.repeat(2000) })).body === 'ümläut ☠'.repeat(2000);
    },
    true,
  ),
  ...samples.map((sample) =>
    contract(
      `rule H4, rule T8: a header of wire type ${sample.type} survives dead-lettering, alone and nested`,
      async (session, channel) => {
        await workAndDead(channel);
        const headers = args({ alone: sample, nested: table(args({ inner: sample, list: array([sample]) })) });
        await channel.publish('', 'work', { properties: { headers } });
        const before = await channel.get('work');
        await channel.reject(1, false);
        const [after] = await session.drain('dead');
        const form = (message?: Received) => normalHeaders(session, message?.properties.headers ?? new Map());
        const same = JSON.stringify(form(before)) === JSON.stringify(normalHeaders(session, headers));
        return [
          same,
          form(after)
            .filter(([name]) => !name.startsWith('x-'))
            .map(([, type]) => type),
          header(session, after, 'alone'),
          JSON.stringify(header(session, after, 'nested')) === JSON.stringify(header(session, before, 'nested')),
        ];
      },
      [true, [sample.type, 'F'], normalHeaders({} as Session, args({ alone: sample }))[0]?.slice(1), true],
    ),
  ),
  contract(
    'rule H4: a header called __proto__ is a header',
    async (session, channel) => {
      await workAndDead(channel);
      const headers = new Map([['__proto__', longstr('harmless')]]);
      return header(session, await rejected(session, channel, { properties: { headers } }), '__proto__');
    },
    ['S', 'harmless'],
  ),
  contract(
    'rule H5: an entry has its fields in this order',
    async (session, channel) => {
      await workAndDead(channel);
      const dead = await rejected(session, channel, { properties: { expiration: '60000' } });
      const xDeath = dead.properties.headers?.get('x-death');
      const first = xDeath?.type === 'A' ? xDeath.value[0] : undefined;
      return first?.type === 'F' ? [...first.value].map(([name, { type }]) => `${name} ${type}`) : undefined;
    },
    ['count l', 'reason S', 'queue S', 'time T', 'exchange S', 'routing-keys A', 'original-expiration S'],
  ),
  contract(
    'rule H5: routing-keys keep the order and duplicates of CC and never show BCC',
    async (session, channel) => {
      await workAndDead(channel);
      const headers = args({
        CC: array([longstr('c2'), longstr('c1'), longstr('c2'), longstr('work')]),
        BCC: array([longstr('b')]),
      });
      return header(session, await rejected(session, channel, { properties: { headers } }), 'x-death');
    },
    ['A', [death({ queue: 'work', reason: 'rejected', keys: ['work', 'c2', 'c1', 'c2', 'work'] })]],
  ),
  contract(
    'rule H6: a known pair of queue and reason only counts up; everything else stays as at its first time',
    async (session, channel) => {
      await channel.declareQueue('work', { arguments: args({ 'x-dead-letter-exchange': '' }) });
      await channel.declareExchange('in', 'fanout');
      await channel.bindQueue('work', 'in');
      await channel.publish('in', 'work', { properties: { expiration: '60000' } });
      for (const tag of [1, 2, 3]) {
        await session.settle();
        await channel.get('work');
        await channel.reject(tag, false);
      }
      const [message] = await session.drain('work');
      return [message?.exchange, header(session, message, 'x-death')];
    },
    [
      '',
      [
        'A',
        [death({ queue: 'work', reason: 'rejected', exchange: 'in', keys: ['work'], count: 3, expiration: '60000' })],
      ],
    ],
  ),
  contract(
    'rule H6, rule H7: an unknown pair comes in front, a known one moves to the front',
    async (session, channel) => {
      await channel.declareQueue('work', {
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'delay' }),
      });
      await channel.declareQueue('delay', {
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'work', 'x-message-ttl': 50 }),
      });
      const consumer = await channel.consume('work');
      await send(channel, 'work', 'one');
      await session.settle();
      await channel.reject(1, false);
      await session.elapse(120);
      await channel.reject(2, false);
      await session.elapse(120);
      return consumer.messages.map(deaths);
    },
    [[], ['delay/expired 1', 'work/rejected 1'], ['delay/expired 2', 'work/rejected 2']],
  ),
  contract(
    'rule H7: with three pairs the newest death is first',
    async (session, channel) => {
      const to = (queue: string, more = {}) => ({
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': queue, ...more }),
      });
      await channel.declareQueue('d');
      await channel.declareQueue('c', to('d', { 'x-message-ttl': 0 }));
      await channel.declareQueue('b', to('c', { 'x-message-ttl': 0 }));
      await channel.declareQueue('a', to('b', { 'x-message-ttl': 0 }));
      await send(channel, 'a', 'one');
      return deaths((await session.drain('d'))[0]);
    },
    ['c/expired 1', 'b/expired 1', 'a/expired 1'],
  ),
  contract(
    'rule H8: the first death overwrites forged x-first-death headers, later deaths leave them alone',
    async (session, channel) => {
      await channel.declareQueue('end');
      await channel.declareQueue('dead', {
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'end', 'x-message-ttl': 0 }),
      });
      await channel.declareQueue('work', {
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' }),
      });
      const headers = args({ 'x-first-death-reason': 'forged', 'x-first-death-queue': int32(1) });
      await channel.publish('', 'work', { properties: { headers } });
      await channel.get('work');
      await channel.reject(1, false);
      const [message] = await session.drain('end');
      return normalHeaders(session, message?.properties.headers ?? new Map()).filter(([name]) => name !== 'x-death');
    },
    firstDeath('rejected', 'work'),
  ),
  ...(['b', 's', 'I', 'l'] as const).map((type) =>
    contract(
      `rule H9: a forged count of wire type ${type} goes on as an int64, unknown fields stay, nothing is added`,
      async (session, channel) => {
        await workAndDead(channel);
        const forged = entry({
          count: { type, value: 7 },
          queue: 'work',
          reason: 'rejected',
          colour: 'blue',
          time: timestamp(1000),
        });
        const dead = await rejected(session, channel, {
          properties: { headers: args({ 'x-death': array([forged]) }) },
        });
        return normalHeaders(session, dead.properties.headers ?? new Map());
      },
      [
        [
          'x-death',
          'A',
          [
            [
              ['colour', 'S', 'blue'],
              ['count', 'l', 8],
              ['queue', 'S', 'work'],
              ['reason', 'S', 'rejected'],
              ['time', 'T', 1000],
            ],
          ],
        ],
      ],
    ),
  ),
  contract(
    'rule H9: a forged history of another queue gets a new entry in front',
    async (session, channel) => {
      await workAndDead(channel);
      const forged = entry({ count: int64(3), queue: 'elsewhere', reason: 'expired' });
      const headers = args({ 'x-death': array([forged]) });
      const dead = await rejected(session, channel, { properties: { headers } });
      return [deaths(dead), dead.properties.headers?.has('x-first-death-queue')];
    },
    [['work/rejected 1', 'elsewhere/expired 3'], false],
  ),
  contract(
    'rule H10: a lone entry without count counts as one after the death',
    async (session, channel) => {
      await workAndDead(channel);
      const forged = entry({ queue: 'work', reason: 'rejected' });
      const headers = args({ 'x-death': array([forged]) });
      return deaths(await rejected(session, channel, { properties: { headers } }));
    },
    ['work/rejected 1'],
  ),
  contract(
    'rule H10: duplicates of a pair without count are merged, their number is the count, and this death adds one',
    async (session, channel) => {
      await workAndDead(channel);
      const forged = entry({ queue: 'work', reason: 'rejected' });
      const headers = args({ 'x-death': array([forged, forged, forged]) });
      return deaths(await rejected(session, channel, { properties: { headers } }));
    },
    ['work/rejected 4'],
  ),
  contract(
    'rule H10: duplicates of a pair that is not this one’s are merged too',
    async (session, channel) => {
      await workAndDead(channel);
      const forged = entry({ queue: 'elsewhere', reason: 'rejected' });
      const headers = args({ 'x-death': array([forged, forged]) });
      return deaths(await rejected(session, channel, { properties: { headers } }));
    },
    ['work/rejected 1', 'elsewhere/rejected 2'],
  ),
  contract(
    'rule H10: two entries of different pairs without count stand for one death each',
    async (session, channel) => {
      await workAndDead(channel);
      const mine = entry({ queue: 'work', reason: 'rejected' });
      const other = entry({ queue: 'elsewhere', reason: 'rejected' });
      const headers = args({ 'x-death': array([mine, other]) });
      return deaths(await rejected(session, channel, { properties: { headers } }));
    },
    ['work/rejected 2', 'elsewhere/rejected 1'],
  ),
  contract(
    'rule H10: of duplicates with counts the first one counts',
    async (session, channel) => {
      await workAndDead(channel);
      const forged = (count: number) => entry({ queue: 'work', reason: 'rejected', count: int64(count) });
      const headers = args({ 'x-death': array([forged(5), forged(9)]) });
      return deaths(await rejected(session, channel, { properties: { headers } }));
    },
    ['work/rejected 6'],
  ),
  ...[longstr('text'), int32(5), table(new Map())].map((value) =>
    contract(
      `rule H11: an x-death of wire type ${value.type} is replaced, and no first death is noted`,
      async (session, channel) => {
        await workAndDead(channel);
        const dead = await rejected(session, channel, { properties: { headers: args({ 'x-death': value }) } });
        return normalHeaders(session, dead.properties.headers ?? new Map());
      },
      [['x-death', 'A', [death({ queue: 'work', reason: 'rejected', keys: ['work'] })]]],
    ),
  ),
  contract(
    'rule H12: a message that never died keeps the order of its headers',
    async (_session, channel) => {
      await channel.declareQueue('q');
      await channel.publish('', 'q', { properties: { headers: args({ z: 1, a: 2, m: 3 }) } });
      return [...((await channel.get('q'))?.properties.headers?.keys() ?? [])];
    },
    ['z', 'a', 'm'],
  ),
  contract(
    'rule H13: copies of one message die separately',
    async (session, channel) => {
      await workAndDead(channel);
      await channel.declareQueue('other', { arguments: args({ 'x-dead-letter-exchange': 'dlx' }) });
      await channel.declareQueue('alive');
      for (const queue of ['work', 'other', 'alive']) await channel.bindQueue(queue, 'amq.fanout');
      await channel.publish('amq.fanout', '', { body: 'one', properties: { headers: args({ a: 1 }) } });
      await take(channel, 'work', 1);
      await take(channel, 'other', 1);
      await channel.reject(1, false);
      const first = await session.drain('dead');
      await channel.reject(2, false);
      const second = await session.drain('dead');
      const [alive] = await session.drain('alive');
      return [first.map(deaths), second.map(deaths), normalHeaders(session, alive?.properties.headers ?? new Map())];
    },
    [[['work/rejected 1']], [['other/rejected 1']], [['a', 'I', 1]]],
  ),
  contract(
    'rule H14: the priority orders the message in a dead-letter queue with priorities',
    async (session, channel) => {
      await channel.declareQueue('dead', { arguments: args({ 'x-max-priority': 9 }) });
      await channel.declareQueue('work', {
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead', 'x-message-ttl': 0 }),
      });
      for (const priority of [1, 5, 3])
        await channel.publish('', 'work', { body: `p${priority}`, properties: { priority } });
      return bodies(await session.drain('dead'));
    },
    ['p5', 'p3', 'p1'],
  ),
];
