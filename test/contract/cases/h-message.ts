import { array, int32, longstr, table, type Field } from '../../../libs/dlx-broker/src/engine/message/index.js';
import {
  args,
  bodies,
  contract,
  death,
  deaths,
  firstDeath,
  header,
  take,
  workAndDead,
  absent,
  since4,
  type Case,
  rejected,
} from '../contract.js';
import type { Received, Session } from '../driver.js';
import { normalForm, normalHeaders } from '../normal-form.js';

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

/** Section H: what dead-lettering changes in a message. */
export const messageCases: readonly Case[] = [
  contract(
    'rule H1: the exchange becomes the DLX, the key stays the first one; redelivered is false again until 4',
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
          redelivered: since4(false, true),
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
      `rule H2: CC is removed until 4 when a dead-letter key is configured, here '${key}'; routing-keys still tell it`,
      async (session, channel) => {
        await workAndDead(channel, { 'x-dead-letter-routing-key': key });
        const headers = args({ CC: array([longstr('cc')]), BCC: array([longstr('bcc')]), other: 'stays' });
        const dead = await rejected(session, channel, { properties: { headers } });
        return normalHeaders(session, dead.properties.headers ?? new Map());
      },
      [
        since4(absent, ['CC', 'A', [['S', 'cc']]]),
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
    'rule H12: since 4 the names of headers are sorted by their bytes',
    async (_session, channel) => {
      await channel.declareQueue('q');
      const headers = args({ '\u{1f600}': 1, '\uff5e': 1, ä: 1, z: 1 });
      await channel.publish('', 'q', { properties: { headers } });
      return [...((await channel.get('q'))?.properties.headers?.keys() ?? [])];
    },
    since4(['\u{1f600}', '\uff5e', 'ä', 'z'], ['z', 'ä', '\uff5e', '\u{1f600}']),
  ),
  contract(
    'rule H12: a message that never died keeps the order of its headers',
    async (_session, channel) => {
      await channel.declareQueue('q');
      await channel.publish('', 'q', { properties: { headers: args({ z: 1, a: 2, m: 3 }) } });
      return [...((await channel.get('q'))?.properties.headers?.keys() ?? [])];
    },
    since4(['z', 'a', 'm'], ['a', 'm', 'z']),
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
