import {
  args,
  attempt,
  bodies,
  contract,
  deaths,
  death,
  header,
  send,
  soft,
  workAndDead,
  since4,
  type Case,
} from '../contract.js';

const invalidExpirations: readonly (readonly [sent: string, reason: string])[] = [
  ['abc', 'no_integer'],
  ['', 'no_integer'],
  [' 10', 'no_integer'],
  ['1.5', '{leftover_string,".5"}'],
  ['10 ', '{leftover_string," "}'],
  ['10ms', '{leftover_string,"ms"}'],
  ['0x10', '{leftover_string,"x10"}'],
  ['+', 'no_integer'],
  ['--5', 'no_integer'],
  ['5"x', '{leftover_string,"\\"x"}'],
  ['5\\', '{leftover_string,"\\\\"}'],
  ['5\n', '{leftover_string,"\\n"}'],
  ['-1', '{value_negative,-1}'],
  ['315360000001', '{value_too_large,315360000001}'],
];

/** Section B: time to live, of messages and of queues. */
export const timeToLiveCases: readonly Case[] = [
  contract(
    'rule B1: the queue’s TTL expires its messages',
    async (session, channel) => {
      await workAndDead(channel, { 'x-message-ttl': 200 });
      await send(channel, 'work', 'one');
      await session.elapse(20);
      const before = (await channel.declareQueue('work', { passive: true })).messageCount;
      await session.elapse(250);
      const dead = await session.drain('dead');
      return [before, bodies(dead), deaths(dead[0])];
    },
    [1, ['one'], ['work/expired 1']],
  ),
  contract(
    'rule B1: the TTL may be 0 and ten years',
    async (_session, channel) => [
      await attempt(channel.declareQueue('brief', { arguments: args({ 'x-message-ttl': 0 }) })),
      await attempt(channel.declareQueue('long', { arguments: args({ 'x-message-ttl': 315_360_000_000 }) })),
    ],
    ['ok', 'ok'],
  ),
  ...['100', '+100', '-0', '007', '00000000000100'].map((expiration) =>
    contract(
      `rule B2: the expiration '${expiration}' is the message’s own TTL`,
      async (session, channel) => {
        await workAndDead(channel);
        await channel.publish('', 'work', { body: 'one', properties: { expiration } });
        await session.elapse(200);
        const dead = await session.drain('dead');
        return [bodies(dead), header(session, dead[0], 'x-death')];
      },
      [
        ['one'],
        [
          'A',
          [
            death({
              queue: 'work',
              reason: 'expired',
              keys: ['work'],
              expiration: since4(expiration, `${Number(expiration)}`),
            }),
          ],
        ],
      ],
    ),
  ),
  ...invalidExpirations.map(([sent, reason]) =>
    contract(
      `rule B3: the expiration ${JSON.stringify(sent)} is invalid: ${reason}`,
      async (_session, channel) => attempt(channel.publish('', 'nobody', { properties: { expiration: sent } })),
      soft(406, '60.40', `invalid expiration '${sent}': ${reason}`),
    ),
  ),
  contract(
    'rule B3: ten years is the longest expiration',
    async (_session, channel) => attempt(channel.publish('', 'nobody', { properties: { expiration: '315360000000' } })),
    'ok',
  ),
  contract(
    'rule B3: inside a transaction it is checked at once, and a missing exchange comes first',
    async (session, channel) => {
      await channel.txSelect();
      const inTransaction = await attempt(channel.publish('', 'q', { properties: { expiration: 'x' } }));
      const other = await session.channel();
      return [inTransaction, await attempt(other.publish('missing', 'q', { properties: { expiration: 'x' } }))];
    },
    [
      soft(406, '60.40', "invalid expiration 'x': no_integer"),
      soft(404, '60.40', "no exchange 'missing' in vhost 'V'"),
    ],
  ),
  contract(
    'rule B4: of queue TTL and expiration the smaller holds',
    async (session, channel) => {
      await workAndDead(channel, { 'x-message-ttl': 150 });
      await channel.declareQueue('patient', {
        arguments: args({ 'x-dead-letter-exchange': 'dlx', 'x-message-ttl': 60_000 }),
      });
      await channel.publish('', 'work', { body: 'queue', properties: { expiration: '60000' } });
      await channel.publish('', 'patient', { body: 'message', properties: { expiration: '150' } });
      await session.elapse(250);
      return bodies(await session.drain('dead')).sort();
    },
    ['message', 'queue'],
  ),
  contract(
    'rule B4: the deadline is fixed when the message is enqueued',
    async (session, channel) => {
      await workAndDead(channel);
      await send(channel, 'work', 'before');
      await session.setPolicy('ttl', { pattern: 'work', definition: { 'message-ttl': 100 } });
      await session.elapse(200);
      const before = bodies(await session.drain('dead'));
      const left = (await channel.declareQueue('work', { passive: true })).messageCount;
      return [before, left];
    },
    [[], 1],
  ),
  contract(
    'rule B4: removing the TTL does not save those already waiting',
    async (session, channel) => {
      await session.setPolicy('ttl', { pattern: 'work', definition: { 'message-ttl': 500 } });
      await workAndDead(channel);
      await send(channel, 'work', 'before');
      await session.clearPolicy('ttl');
      await send(channel, 'work', 'after');
      await session.elapse(600);
      return [bodies(await session.drain('dead')), bodies(await session.drain('work'))];
    },
    [['before'], ['after']],
  ),
  contract(
    'rule B5: an expired message behind a live one stays and counts until it is the head, then dies undelivered',
    async (session, channel) => {
      await workAndDead(channel);
      await channel.publish('', 'work', { body: 'live' });
      await channel.publish('', 'work', { body: 'dead', properties: { expiration: '50' } });
      await channel.publish('', 'work', { body: 'last' });
      await session.elapse(150);
      const { messageCount } = await channel.declareQueue('work', { passive: true });
      const early = bodies(await session.drain('dead'));
      const got = [await channel.get('work'), await channel.get('work')].map((message) => message?.body);
      return [messageCount, early, got, bodies(await session.drain('dead'))];
    },
    [3, [], ['live', 'last'], ['dead']],
  ),
  contract(
    'rule B6: with the head all expired messages behind it die, in queue order',
    async (session, channel) => {
      await workAndDead(channel);
      for (const [body, expiration] of [
        ['a', '500'],
        ['b', '100'],
        ['c', '300'],
        ['d', '60000'],
      ] as const)
        await channel.publish('', 'work', { body, properties: { expiration } });
      await session.elapse(100);
      const early = bodies(await session.drain('dead'));
      await session.elapse(450);
      return [early, bodies(await session.drain('dead')), bodies(await session.drain('work'))];
    },
    [[], ['a', 'b', 'c'], ['d']],
  ),
  contract(
    'rule B7: an expired message is not delivered to a consumer that comes late',
    async (session, channel) => {
      await workAndDead(channel);
      await channel.publish('', 'work', { body: 'dead', properties: { expiration: '50' } });
      await channel.publish('', 'work', { body: 'live' });
      await session.elapse(150);
      const consumer = await channel.consume('work');
      await session.settle();
      return [bodies(consumer.messages), bodies(await session.drain('dead'))];
    },
    [['live'], ['dead']],
  ),
  contract(
    'rule B8: the timer follows the head: after a get the next deadline counts',
    async (session, channel) => {
      await workAndDead(channel);
      await channel.publish('', 'work', { body: 'long', properties: { expiration: '60000' } });
      await channel.publish('', 'work', { body: 'short', properties: { expiration: '200' } });
      await channel.get('work', { noAck: true });
      await session.elapse(300);
      return bodies(await session.drain('dead'));
    },
    ['short'],
  ),
  contract(
    'rule B9: an unacked message does not expire, but is dead-lettered as expired when it comes back too late',
    async (session, channel) => {
      await workAndDead(channel, { 'x-message-ttl': 100 });
      await send(channel, 'work', 'one');
      await channel.get('work');
      await session.elapse(200);
      const early = bodies(await session.drain('dead'));
      await channel.reject(1, true);
      const dead = await session.drain('dead');
      return [early, bodies(dead), deaths(dead[0]), dead[0]?.redelivered];
    },
    [[], ['one'], ['work/expired 1'], since4(false, true)],
  ),
  contract(
    'rule B10: TTL 0 of the queue reaches a consumer that can take it at once, and only that',
    async (session, channel) => {
      await workAndDead(channel, { 'x-message-ttl': 0 });
      await channel.qos(1);
      const consumer = await channel.consume('work');
      await send(channel, 'work', 'taken');
      await session.settle();
      await send(channel, 'work', 'refused');
      await session.settle();
      const dead = await session.drain('dead');
      return [bodies(consumer.messages), bodies(dead), header(session, dead[0], 'x-death')];
    },
    [['taken'], ['refused'], ['A', [death({ queue: 'work', reason: 'expired', keys: ['work'] })]]],
  ),
  contract(
    'rule B10: TTL 0 of the message leaves original-expiration 0',
    async (session, channel) => {
      await workAndDead(channel);
      await channel.publish('', 'work', { body: 'one', properties: { expiration: '0' } });
      const dead = await session.drain('dead');
      return header(session, dead[0], 'x-death');
    },
    ['A', [death({ queue: 'work', reason: 'expired', keys: ['work'], expiration: '0' })]],
  ),
  contract(
    'rule B10: with a queue TTL of 0 a requeued message expires instead of coming again',
    async (session, channel) => {
      await workAndDead(channel, { 'x-message-ttl': 0 });
      const consumer = await channel.consume('work');
      await send(channel, 'work', 'one');
      await session.settle();
      await channel.nack(1, { requeue: true });
      const dead = await session.drain('dead');
      return [consumer.messages.length, deaths(dead[0])];
    },
    [1, ['work/expired 1']],
  ),
  contract(
    'rule B11: a dead letter keeps no expiration, and the TTL of its new queue applies afresh',
    async (session, channel) => {
      await channel.declareQueue('end');
      const to = (queue: string) => ({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': queue });
      await channel.declareQueue('second', { arguments: args({ ...to('end'), 'x-message-ttl': 200 }) });
      await channel.declareQueue('keeps');
      await channel.declareQueue('first', { arguments: args(to('second')) });
      await channel.declareQueue('other', { arguments: args(to('keeps')) });
      await channel.publish('', 'first', { body: 'on', properties: { expiration: '50' } });
      await channel.publish('', 'other', { body: 'stays', properties: { expiration: '50' } });
      await session.elapse(350);
      const end = await session.drain('end');
      const kept = await session.drain('keeps');
      return [deaths(end[0]), end[0]?.properties.expiration, bodies(kept), kept[0]?.properties.expiration];
    },
    [['second/expired 1', 'first/expired 1'], undefined, ['stays'], undefined],
  ),
  contract(
    'rule B12: a queue without use expires',
    async (session, channel) => {
      await channel.declareQueue('idle', { arguments: args({ 'x-expires': 150 }) });
      await session.elapse(250);
      return attempt(channel.declareQueue('idle', { passive: true }));
    },
    soft(404, '50.10', "no queue 'idle' in vhost 'V'"),
  ),
  contract(
    'rule B12: declaring, also passively, and getting restart the clock; publishing does not',
    async (session, channel) => {
      const expires = { arguments: args({ 'x-expires': 300 }) };
      for (const queue of ['declared', 'asked', 'read', 'fed']) await channel.declareQueue(queue, expires);
      await session.elapse(160);
      await channel.declareQueue('declared', expires);
      await channel.declareQueue('asked', { passive: true });
      await channel.get('read');
      await send(channel, 'fed', 'one');
      await session.elapse(180);
      const seen = [];
      for (const queue of ['declared', 'asked', 'read', 'fed'])
        seen.push((await attempt((await session.channel()).declareQueue(queue, { passive: true }))) === 'ok');
      return seen;
    },
    [true, true, true, false],
  ),
  contract(
    'rule B12: a consumer stops the clock; it starts when the consumer goes',
    async (session, channel) => {
      await channel.declareQueue('used', { arguments: args({ 'x-expires': 150 }) });
      const consumer = await channel.consume('used');
      await session.elapse(250);
      const during = await attempt((await session.channel()).bindQueue('used', 'amq.fanout'));
      await channel.cancel(consumer.tag);
      await session.elapse(250);
      return [during, await attempt(channel.bindQueue('used', 'amq.fanout'))];
    },
    ['ok', soft(404, '50.20', "no queue 'used' in vhost 'V'")],
  ),
];
