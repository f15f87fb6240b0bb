import {
  array,
  int32,
  int64,
  longstr,
  table,
  timestamp,
  type Field,
} from '../../../libs/dlx-broker/src/engine/message/index.js';
import {
  args,
  contract,
  death,
  deaths,
  firstDeath,
  header,
  send,
  virtualTimeOnly,
  workAndDead,
  absent,
  since4,
  type Case,
  rejected,
} from '../contract.js';

import { normalHeaders } from '../normal-form.js';

/** A forged entry of x-death. */
const entry = (values: Readonly<Record<string, Field | string>>): Field => table(args(values));

/** The headers of a dead letter in whose history there is only its death in `work`. */
const onlyThisDeath = [
  ['x-death', 'A', [death({ queue: 'work', reason: 'rejected', keys: ['work'] })]],
  ...firstDeath('rejected', 'work'),
];

/** Section H: the history of deaths. */
export const historyCases: readonly Case[] = [
  contract(
    'rule H5: an entry has its fields in this order',
    async (session, channel) => {
      await workAndDead(channel);
      const dead = await rejected(session, channel, { properties: { expiration: '60000' } });
      const xDeath = dead.properties.headers?.get('x-death');
      const first = xDeath?.type === 'A' ? xDeath.value[0] : undefined;
      return first?.type === 'F' ? [...first.value].map(([name, { type }]) => `${name} ${type}`) : undefined;
    },
    [
      since4(absent, 'original-expiration S'),
      'count l',
      'reason S',
      'queue S',
      'time T',
      'exchange S',
      'routing-keys A',
      since4('original-expiration S', absent),
    ],
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
    'rule H5: the key of a death is there also where a BCC had its name',
    async (session, channel) => {
      for (const [queue, to] of [
        ['work', 'dead'],
        ['dead', 'end'],
      ] as const)
        await channel.declareQueue(queue, {
          arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': to }),
        });
      await channel.declareQueue('end');
      await channel.declareExchange('in', 'fanout');
      await channel.bindQueue('work', 'in');
      await channel.publish('in', 'k', { properties: { headers: args({ BCC: array([longstr('dead')]) }) } });
      for (const queue of ['work', 'dead']) {
        await session.settle();
        const { deliveryTag = 0 } = (await channel.get(queue)) ?? {};
        await channel.reject(deliveryTag, false);
      }
      return header(session, (await session.drain('end'))[0], 'x-death');
    },
    [
      'A',
      [
        death({ queue: 'dead', reason: 'rejected', keys: ['dead'] }),
        death({ queue: 'work', reason: 'rejected', exchange: 'in', keys: ['k'] }),
      ],
    ],
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
    firstDeath('rejected', 'work', '', { reason: 'expired', queue: 'dead', exchange: '' }),
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
      since4(
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
        onlyThisDeath,
      ),
    ),
  ),
  contract(
    'rule H9: a forged history of other queues gets a new entry in front, and keeps its counts',
    async (session, channel) => {
      await workAndDead(channel);
      const forged = entry({ count: int64(3), queue: 'elsewhere', reason: 'expired' });
      const other = entry({ count: int64(5), queue: 'other', reason: 'rejected' });
      const headers = args({ 'x-death': array([forged, other]) });
      const dead = await rejected(session, channel, { properties: { headers } });
      return [deaths(dead)[0], deaths(dead).toSorted(), dead.properties.headers?.has('x-first-death-queue')];
    },
    since4(
      ['work/rejected 1', ['elsewhere/expired 3', 'other/rejected 5', 'work/rejected 1'], false],
      ['work/rejected 1', ['work/rejected 1'], true],
    ),
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
    [since4('work/rejected 4', 'work/rejected 1')],
  ),
  contract(
    'rule H10: duplicates of a pair that is not this one’s are merged too',
    async (session, channel) => {
      await workAndDead(channel);
      const forged = entry({ queue: 'elsewhere', reason: 'rejected' });
      const headers = args({ 'x-death': array([forged, forged]) });
      return deaths(await rejected(session, channel, { properties: { headers } }));
    },
    ['work/rejected 1', since4('elsewhere/rejected 2', absent)],
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
    since4(['work/rejected 2', 'elsewhere/rejected 1'], ['work/rejected 1']),
  ),
  ...(['b', 'elsewhere'] as const).map((queue) =>
    contract(
      `rule H10: a lone entry without count is one death as soon as another stands beside it, of ${queue}`,
      async (session, channel) => {
        const to = (key: string) => args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': key });
        await channel.declareQueue('a', { arguments: to('b') });
        await channel.declareQueue('b', { arguments: to('c') });
        await channel.declareQueue('c');
        const forged = entry({ queue, reason: 'rejected' });
        await channel.publish('', 'a', { properties: { headers: args({ 'x-death': array([forged]) }) } });
        await session.settle();
        await channel.reject((await channel.get('a'))?.deliveryTag ?? 0, false);
        await session.settle();
        await channel.reject((await channel.get('b'))?.deliveryTag ?? 0, false);
        await session.settle();
        return deaths(await channel.get('c')).sort(); // V2: with three pairs the older ones stand in another order
      },
      since4(
        queue === 'b' ? ['a/rejected 1', 'b/rejected 2'] : ['a/rejected 1', 'b/rejected 1', 'elsewhere/rejected 1'],
        ['a/rejected 1', 'b/rejected 1'],
      ),
    ),
  ),
  contract(
    'rule H10: of duplicates with counts the first one counts',
    async (session, channel) => {
      await workAndDead(channel);
      const forged = (count: number) => entry({ queue: 'work', reason: 'rejected', count: int64(count) });
      const headers = args({ 'x-death': array([forged(5), forged(9)]) });
      return deaths(await rejected(session, channel, { properties: { headers } }));
    },
    [since4('work/rejected 6', 'work/rejected 1')],
  ),
  ...[longstr('text'), int32(5), table(new Map())].map((value) =>
    contract(
      `rule H11: an x-death of wire type ${value.type} is replaced; no first death is noted until 4`,
      async (session, channel) => {
        await workAndDead(channel);
        const dead = await rejected(session, channel, { properties: { headers: args({ 'x-death': value }) } });
        return normalHeaders(session, dead.properties.headers ?? new Map());
      },
      since4(onlyThisDeath.slice(0, 1), onlyThisDeath),
    ),
  ),
  ...[array([longstr('no table')]), array([int32(5)])].map((value) =>
    virtualTimeOnly(
      'rule V5: such a header crashes the queues of a real broker',
      contract(
        `rule H11: an x-death array of ${value.type === 'A' ? value.value[0]?.type : ''} is replaced too`,
        async (session, channel) => {
          await workAndDead(channel);
          const dead = await rejected(session, channel, { properties: { headers: args({ 'x-death': value }) } });
          return normalHeaders(session, dead.properties.headers ?? new Map());
        },
        since4(onlyThisDeath.slice(0, 1), onlyThisDeath),
      ),
    ),
  ),
];
