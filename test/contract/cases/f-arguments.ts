import type { Field } from '../../../libs/dlx-broker/src/engine/message/index.js';
import { args, attempt, bodies, contract, deaths, send, since4, soft, workAndDead, type Case } from '../contract.js';
import type { Session, TestChannel } from '../driver.js';

const invalid = (arg: string, reason: string) =>
  soft(406, '50.10', `invalid arg '${arg}' for queue 'q' in vhost 'V': ${reason}`);

/** Rule F9: what is refused, by value and wire type. */
const refused: readonly (readonly [name: string, value: string | number | boolean | Field, reason: string])[] = [
  ['x-message-ttl', '100', '"expected integer, got longstr"'],
  ['x-message-ttl', { type: 'd', value: 100 }, '"expected integer, got double"'],
  ['x-message-ttl', true, '"expected integer, got bool"'],
  ['x-message-ttl', { type: 'T', value: 100 }, '"expected integer, got timestamp"'],
  ['x-message-ttl', { type: 'f', value: 100 }, '"expected integer, got float"'],
  ['x-message-ttl', -1, '{value_negative,-1}'],
  ['x-message-ttl', { type: 'l', value: 2 ** 53 }, '{value_too_large,9007199254740992}'],
  ['x-message-ttl', 315_360_000_001, '{value_too_large,315360000001}'],
  ['x-expires', 0, '{value_zero,0}'],
  ['x-expires', -1, '{value_negative,-1}'],
  ['x-expires', 315_360_000_001, '{value_too_large,315360000001}'],
  ['x-max-length', -1, '{value_negative,-1}'],
  ['x-max-length', 'many', '"expected integer, got longstr"'],
  ['x-max-length-bytes', -1, '{value_negative,-1}'],
  ['x-max-priority', 256, '{max_value_exceeded,256}'],
  ['x-max-priority', -1, '{value_negative,-1}'],
  ['x-max-length-bytes', true, '"expected integer, got bool"'],
  ['x-overflow', 'spill', 'invalid_overflow'],
  ['x-overflow', 'constructor', 'invalid_overflow'],
  ['x-overflow', { type: 'b', value: 5 }, '{unacceptable_type,byte}'],
  ['x-dead-letter-routing-key', 'key', 'routing_key_but_no_dlx_defined'],
  ['x-dead-letter-strategy', 'perhaps', 'invalid_dlx_strategy'],
  ['x-dead-letter-strategy', { type: 'b', value: 5 }, '{unacceptable_type,byte}'],
  ['x-queue-type', 'magic', '"unsupported queue type \'magic\'"'],
  ['x-queue-type', { type: 'b', value: 5 }, '{unacceptable_type,byte}'],
  ['x-queue-mode', 'quick', '"unsupported queue mode \'quick\'"'],
  ['x-queue-version', 3, '"unsupported queue version \'3\'"'],
  ['x-single-active-consumer', 'yes', '{unacceptable_type,longstr}'],
];

const typeNames: readonly (readonly [field: Field, name: string])[] = [
  [{ type: 't', value: true }, 'bool'],
  [{ type: 'b', value: 1 }, 'byte'],
  [{ type: 's', value: 1 }, 'short'],
  [{ type: 'I', value: 1 }, 'signedint'],
  [{ type: 'l', value: 1 }, 'long'],
  [{ type: 'd', value: 1 }, 'double'],
  [{ type: 'f', value: 1 }, 'float'],
  [{ type: 'F', value: new Map() }, 'table'],
  [{ type: 'A', value: [] }, 'array'],
  [{ type: 'x', value: Uint8Array.of(1) }, 'binary'],
  [{ type: 'T', value: 1 }, 'timestamp'],
  [{ type: 'V', value: undefined }, 'void'],
  [{ type: 'B', value: 1 }, 'unsignedbyte'],
  [{ type: 'u', value: 1 }, 'unsignedshort'],
  [{ type: 'i', value: 1 }, 'unsignedint'],
  [{ type: 'D', value: { scale: 1, value: 1 } }, 'decimal'],
];

/** Rejects one message in `work` and says where it went. */
async function whereRejectedGoes(session: Session, channel: TestChannel, ...queues: readonly string[]) {
  await send(channel, 'work', 'one');
  const got = await channel.get('work');
  await channel.reject(got?.deliveryTag ?? 0, false);
  const counts: Record<string, number> = {};
  for (const queue of queues) counts[queue] = (await session.drain(queue)).length;
  return counts;
}

/** Section F: arguments, first part: what a queue accepts. */
export const argumentCases: readonly Case[] = [
  ...refused.map(([name, value, reason]) =>
    contract(
      `rule F9: ${name} of ${JSON.stringify(value)} is refused: ${reason}`,
      async (_session, channel) => {
        // A queue looks only at the values of arguments that its type knows.
        const type: Record<string, string> = name === 'x-dead-letter-strategy' ? { 'x-queue-type': 'quorum' } : {};
        return attempt(channel.declareQueue('q', { durable: true, arguments: args({ ...type, [name]: value }) }));
      },
      // Classic queues of version 2 have no mode.
      name === 'x-queue-mode' ? since4(invalid(name, reason), 'ok') : invalid(name, reason),
    ),
  ),
  ...typeNames.map(([value, name]) =>
    contract(
      `rule F9: a DLX of type ${name} is refused`,
      async (_session, channel) =>
        attempt(channel.declareQueue('q', { arguments: args({ 'x-dead-letter-exchange': value }) })),
      soft(406, '50.10', `invalid type '${name}' for arg 'x-dead-letter-exchange' in queue 'q' in vhost 'V'`),
    ),
  ),
  contract(
    'rule F9: a routing key of a wrong type is refused',
    async (_session, channel) => {
      const wrong = args({ 'x-dead-letter-exchange': 'dlx', 'x-dead-letter-routing-key': { type: 'b', value: 5 } });
      return attempt(channel.declareQueue('q', { arguments: wrong }));
    },
    invalid('x-dead-letter-routing-key', '{unacceptable_type,byte}'),
  ),
  ...(['b', 'B', 's', 'u', 'I', 'i', 'l'] as const).map((type) =>
    contract(
      `rule F9: a TTL may come as wire type ${type}`,
      async (session, channel) => {
        await workAndDead(channel, { 'x-message-ttl': { type, value: 60 } });
        await send(channel, 'work', 'one');
        await session.elapse(150);
        return bodies(await session.drain('dead'));
      },
      ['one'],
    ),
  ),
  contract(
    'rule F9: unknown arguments are accepted',
    async (_session, channel) => attempt(channel.declareQueue('q', { arguments: args({ 'x-unheard-of': 'yes' }) })),
    'ok',
  ),
  contract(
    'rule F9: the type of the DLX is looked at before the other values, those before the keys of the queue type',
    async (session, channel) => {
      const wrong = { 'x-message-ttl': -1, 'x-delivery-limit': 1 };
      const withDlx = { ...wrong, 'x-dead-letter-exchange': 5 };
      return [
        await attempt(channel.declareQueue('q', { arguments: args(withDlx) })),
        await attempt((await session.channel()).declareQueue('q', { arguments: args(wrong) })),
      ];
    },
    [
      soft(406, '50.10', "invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'q' in vhost 'V'"),
      invalid('x-message-ttl', '{value_negative,-1}'),
    ],
  ),
  contract(
    'rule F1: the empty string as DLX is the default exchange, and an empty routing key counts as set',
    async (session, channel) => {
      await channel.declareExchange('dlx', 'direct');
      await channel.declareQueue('empty');
      await channel.bindQueue('empty', 'dlx', '');
      await channel.declareQueue('named');
      await channel.bindQueue('named', 'dlx', 'work');
      await channel.declareQueue('work', {
        arguments: args({ 'x-dead-letter-exchange': 'dlx', 'x-dead-letter-routing-key': '' }),
      });
      return whereRejectedGoes(session, channel, 'empty', 'named');
    },
    { empty: 1, named: 0 },
  ),
  contract(
    'rule F2: the DLX is looked up at each death: absent, then there, then recreated with another type',
    async (session, channel) => {
      await channel.declareQueue('dead');
      await channel.declareQueue('work', { arguments: args({ 'x-dead-letter-exchange': 'late' }) });
      const seen = [await whereRejectedGoes(session, channel, 'dead')];
      await channel.declareExchange('late', 'direct');
      await channel.bindQueue('dead', 'late', 'other');
      seen.push(await whereRejectedGoes(session, channel, 'dead'));
      await channel.deleteExchange('late');
      await channel.declareExchange('late', 'fanout');
      await channel.bindQueue('dead', 'late');
      seen.push(await whereRejectedGoes(session, channel, 'dead'));
      return seen;
    },
    [{ dead: 0 }, { dead: 0 }, { dead: 1 }],
  ),
  contract(
    'rule F3: the argument beats the policy for the DLX and the key',
    async (session, channel) => {
      await channel.declareQueue('by-argument');
      await channel.declareQueue('by-policy');
      await session.setPolicy('dlx', {
        pattern: 'work',
        definition: { 'dead-letter-exchange': 'nowhere', 'dead-letter-routing-key': 'by-policy' },
      });
      await channel.declareQueue('work', {
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'by-argument' }),
      });
      return whereRejectedGoes(session, channel, 'by-argument', 'by-policy');
    },
    { 'by-argument': 1, 'by-policy': 0 },
  ),
  contract(
    'rule F3: a routing key of the policy completes a DLX of the argument',
    async (session, channel) => {
      await channel.declareQueue('dead');
      await session.setPolicy('key', { pattern: 'work', definition: { 'dead-letter-routing-key': 'dead' } });
      await channel.declareQueue('work', { arguments: args({ 'x-dead-letter-exchange': '' }) });
      return whereRejectedGoes(session, channel, 'dead');
    },
    { dead: 1 },
  ),
  contract(
    'rule F3: the overflow argument of a classic queue beats the policy',
    async (session, channel) => {
      await session.setPolicy('full', { pattern: 'work', definition: { overflow: 'reject-publish' } });
      await workAndDead(channel, { 'x-max-length': 1, 'x-overflow': 'drop-head' });
      await send(channel, 'work', 'a', 'b');
      return [bodies(await session.drain('dead')), bodies(await session.drain('work'))];
    },
    [['a'], ['b']],
  ),
  ...(
    [
      ['argument', { 'x-max-length': 1 }, { 'max-length': 3 }],
      ['policy', { 'x-max-length': 3 }, { 'max-length': 1 }],
    ] as const
  ).map(([winner, values, definition]) =>
    contract(
      `rule F4: of two numbers the smaller holds, here that of the ${winner}`,
      async (session, channel) => {
        await session.setPolicy('length', { pattern: 'work', definition });
        await workAndDead(channel, values);
        await send(channel, 'work', 'a', 'b', 'c');
        return bodies(await session.drain('work'));
      },
      ['c'],
    ),
  ),
  contract(
    'rule F5: a policy with only a routing key is accepted and does nothing alone',
    async (session, channel) => {
      await channel.declareQueue('dead');
      await session.setPolicy('key', { pattern: 'work', definition: { 'dead-letter-routing-key': 'dead' } });
      await channel.declareQueue('work');
      return whereRejectedGoes(session, channel, 'dead');
    },
    { dead: 0 },
  ),
  contract(
    'rule F5: a DLX of the policy does not excuse a routing key argument without one',
    async (session, channel) => {
      await session.setPolicy('dlx', { pattern: 'q', definition: { 'dead-letter-exchange': '' } });
      return attempt(channel.declareQueue('q', { arguments: args({ 'x-dead-letter-routing-key': 'dead' }) }));
    },
    invalid('x-dead-letter-routing-key', 'routing_key_but_no_dlx_defined'),
  ),
  contract(
    'rule F6: a policy acts on waiting and unacked messages: set, changed, removed',
    async (session, channel) => {
      await channel.declareQueue('first');
      await channel.declareQueue('second');
      await channel.declareQueue('work');
      await send(channel, 'work', 'a', 'b', 'c');
      for (const _ of [1, 2, 3]) await channel.get('work');
      const dlx = (key: string) => ({ 'dead-letter-exchange': '', 'dead-letter-routing-key': key });
      await session.setPolicy('dlx', { pattern: 'work', definition: dlx('first') });
      await channel.reject(1, false);
      await session.setPolicy('dlx', { pattern: 'work', definition: dlx('second') });
      await channel.reject(2, false);
      await session.clearPolicy('dlx');
      await channel.reject(3, false);
      return [bodies(await session.drain('first')), bodies(await session.drain('second'))];
    },
    [['a'], ['b']],
  ),
  contract(
    'rule A6, rule F6: a death by policy is recorded like any other',
    async (session, channel) => {
      await channel.declareQueue('dead');
      const definition = { 'dead-letter-exchange': '', 'dead-letter-routing-key': 'dead', 'message-ttl': 50 };
      await session.setPolicy('ttl', { pattern: '^work$', definition });
      await channel.declareQueue('work');
      await send(channel, 'work', 'one');
      await session.elapse(150);
      return deaths((await session.drain('dead'))[0]);
    },
    ['work/expired 1'],
  ),
];
