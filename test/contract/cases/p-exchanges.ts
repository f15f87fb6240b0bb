import { args, attempt, bodies, contract, hard, soft, since4, type Case } from '../contract.js';
import type { TestChannel } from '../driver.js';

const onDefault: readonly (readonly [what: string, at: string, use: (channel: TestChannel) => Promise<unknown>])[] = [
  ['declaring', '40.10', (channel) => channel.declareExchange('', 'direct', { durable: true })],
  ['declaring passively', '40.10', (channel) => channel.declareExchange('', 'direct', { passive: true })],
  ['deleting', '40.20', (channel) => channel.deleteExchange('')],
  ['binding a queue to', '50.20', (channel) => channel.bindQueue('q', '', 'key')],
  ['unbinding a queue from', '50.50', (channel) => channel.unbindQueue('q', '', 'q')],
  ['binding an exchange to', '40.30', (channel) => channel.bindExchange('amq.fanout', '', 'key')],
];

const inequivalent = (arg: string, text: string) =>
  soft(406, '40.10', `inequivalent arg '${arg}' for exchange 'x' in vhost 'V': ${text}`);

/** Section P: exchanges and bindings, without the matching of keys and headers. */
export const exchangeCases: readonly Case[] = [
  contract(
    'rule P1: these exchanges are there from the start, durable',
    async (session) => {
      const kinds = [
        ['amq.direct', 'direct'],
        ['amq.fanout', 'fanout'],
        ['amq.topic', 'topic'],
        ['amq.headers', 'headers'],
        ['amq.match', 'headers'],
      ] as const;
      const seen = [];
      for (const [name, type] of kinds)
        seen.push(await attempt((await session.channel()).declareExchange(name, type, { durable: true })));
      const trace = { durable: true, internal: true };
      seen.push(await attempt((await session.channel()).declareExchange('amq.rabbitmq.trace', 'topic', trace)));
      return seen;
    },
    ['ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
  ),
  ...(
    [
      ['type', 'fanout', {}, "received 'fanout' but current is 'direct'"],
      ['durable', 'direct', { durable: true }, "received 'true' but current is 'false'"],
      ['auto_delete', 'direct', { autoDelete: true }, "received 'true' but current is 'false'"],
      ['internal', 'direct', { internal: true }, "received 'true' but current is 'false'"],
      [
        'alternate-exchange',
        'direct',
        { arguments: args({ 'alternate-exchange': 'ae' }) },
        "received the value 'ae' of type 'longstr' but current is none",
      ],
    ] as const
  ).map(([arg, type, options, text]) =>
    contract(
      `rule P2: declared again with another ${arg}`,
      async (_session, channel) => {
        await channel.declareExchange('x', 'direct');
        return attempt(channel.declareExchange('x', type, options));
      },
      inequivalent(arg, text),
    ),
  ),
  contract(
    'rule P2: type comes before durable; other arguments are not compared; passive asks for existence only',
    async (session, channel) => {
      await channel.declareExchange('x', 'direct', { arguments: args({ other: 1 }) });
      await channel.declareExchange('x', 'direct', { arguments: args({ other: 2 }) });
      await channel.declareExchange('x', 'fanout', { passive: true, durable: true });
      return [
        await attempt(channel.declareExchange('x', 'topic', { durable: true })),
        await attempt((await session.channel()).declareExchange('missing', 'topic', { passive: true })),
      ];
    },
    [
      inequivalent('type', "received 'topic' but current is 'direct'"),
      soft(404, '40.10', "no exchange 'missing' in vhost 'V'"),
    ],
  ),
  contract(
    'rule P3, rule W11: an unknown type closes the connection, since 4 the channel',
    async (_session, channel) => attempt(channel.declareExchange('x', 'magic')),
    since4(hard(503, '40.10', "unknown exchange type 'magic'"), soft(406, '40.10', "unknown exchange type 'magic'")),
  ),
  contract(
    'rule P3: the prefix amq. is reserved, and system exchanges stay',
    async (session, channel) => [
      await attempt(channel.declareExchange('amq.mine', 'direct')),
      await attempt((await session.channel()).deleteExchange('amq.fanout')),
    ],
    [
      soft(403, '40.10', "exchange name 'amq.mine' contains reserved prefix 'amq.*'"),
      soft(403, '40.20', "deletion of system exchange 'amq.fanout' in vhost 'V' not allowed"),
    ],
  ),
  ...onDefault.map(([what, at, use]) =>
    contract(
      `rule P3: ${what} the default exchange is not permitted`,
      async (_session, channel) => {
        await channel.declareQueue('q');
        return attempt(use(channel));
      },
      soft(403, at, 'operation not permitted on the default exchange'),
    ),
  ),
  contract(
    'rule P4: deleting a missing exchange is fine; if-unused looks at bindings',
    async (session, channel) => {
      await channel.deleteExchange('missing');
      await channel.declareExchange('x', 'fanout');
      await channel.declareQueue('q');
      await channel.bindQueue('q', 'x');
      const used = await attempt((await session.channel()).deleteExchange('x', { ifUnused: true }));
      await channel.unbindQueue('q', 'x');
      return [used, await attempt(channel.deleteExchange('x', { ifUnused: true }))];
    },
    [soft(406, '40.20', "exchange 'x' in vhost 'V' in use"), 'ok'],
  ),
  contract(
    'rule P4: an auto-delete exchange goes with its last binding as a source, not as a destination',
    async (session, channel) => {
      await channel.declareExchange('x', 'fanout', { autoDelete: true });
      await channel.declareQueue('q');
      await channel.bindExchange('x', 'amq.fanout');
      await channel.unbindExchange('x', 'amq.fanout');
      await channel.bindQueue('q', 'x', 'a');
      await channel.bindQueue('q', 'x', 'b');
      await channel.unbindQueue('q', 'x', 'a');
      const still = await attempt((await session.channel()).declareExchange('x', 'fanout', { passive: true }));
      await channel.deleteQueue('q');
      return [still, await attempt((await session.channel()).declareExchange('x', 'fanout', { passive: true }))];
    },
    ['ok', soft(404, '40.10', "no exchange 'x' in vhost 'V'")],
  ),
  contract(
    'rule P5: binding needs both ends',
    async (session, channel) => {
      await channel.declareQueue('q');
      return [
        await attempt((await session.channel()).bindQueue('missing', 'amq.fanout')),
        await attempt((await session.channel()).bindQueue('q', 'missing')),
        await attempt((await session.channel()).bindExchange('missing', 'amq.fanout')),
        await attempt((await session.channel()).bindExchange('amq.fanout', 'missing')),
      ];
    },
    [
      soft(404, '50.20', "no queue 'missing' in vhost 'V'"),
      soft(404, '50.20', "no exchange 'missing' in vhost 'V'"),
      soft(404, '40.30', "no exchange 'missing' in vhost 'V'"),
      soft(404, '40.30', "no exchange 'missing' in vhost 'V'"),
    ],
  ),
  contract(
    'rule P5: binding twice is one binding; unbinding what is not there is fine',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.bindQueue('q', 'amq.direct', 'k');
      await channel.bindQueue('q', 'amq.direct', 'k');
      await channel.unbindQueue('q', 'amq.direct', 'k');
      await channel.publish('amq.direct', 'k');
      const gone = await session.drain('q');
      return [
        gone.length,
        await attempt(channel.unbindQueue('q', 'amq.direct', 'k')),
        await attempt(channel.unbindQueue('missing', 'amq.direct', 'k')),
        await attempt(channel.unbindQueue('q', 'missing', 'k')),
        await attempt(channel.unbindExchange('missing', 'amq.direct', 'k')),
      ];
    },
    [0, 'ok', 'ok', 'ok', 'ok'],
  ),
  contract(
    'rule P5: bindings that differ in their arguments are two',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.bindQueue('q', 'amq.direct', 'k', args({ a: 1 }));
      await channel.bindQueue('q', 'amq.direct', 'k', args({ a: 2 }));
      await channel.unbindQueue('q', 'amq.direct', 'k', args({ a: 1 }));
      await channel.publish('amq.direct', 'k');
      return (await session.drain('q')).length;
    },
    1,
  ),
  contract(
    'rule P6: an alternate exchange of a wrong type is refused',
    async (_session, channel) => {
      const wrong = { arguments: args({ 'alternate-exchange': { type: 'b', value: 5 } }) };
      return attempt(channel.declareExchange('x', 'direct', wrong));
    },
    soft(406, '40.10', "invalid type 'byte' for arg 'alternate-exchange' in exchange 'x' in vhost 'V'"),
  ),
  contract(
    'rule P9: a fanout ignores the key but keeps it: unbinding needs the same one',
    async (session, channel) => {
      await channel.declareQueue('q');
      await channel.bindQueue('q', 'amq.fanout', 'kept');
      await channel.unbindQueue('q', 'amq.fanout', 'other');
      await channel.publish('amq.fanout', 'anything', { body: 'one' });
      const bound = bodies(await session.drain('q'));
      await channel.unbindQueue('q', 'amq.fanout', 'kept');
      await channel.publish('amq.fanout', 'kept', { body: 'two' });
      return [bound, bodies(await session.drain('q'))];
    },
    [['one'], []],
  ),
  contract(
    'rule P9: exchanges may be bound in loops, also to themselves',
    async (session, channel) => {
      await channel.declareExchange('a', 'fanout');
      await channel.declareExchange('b', 'fanout');
      await channel.bindExchange('a', 'b');
      await channel.bindExchange('b', 'a');
      await channel.bindExchange('a', 'a');
      await channel.declareQueue('q');
      await channel.bindQueue('q', 'a');
      await channel.publish('b', 'k', { body: 'one' });
      return bodies(await session.drain('q'));
    },
    ['one'],
  ),
];
