import { array, int32, longstr, table } from '../../../libs/dlx-broker/src/engine/message/index.js';
import { args, attempt, contract, soft, since4, type Case } from '../contract.js';
import type { QueueOptions } from '../driver.js';

type Values = Parameters<typeof args>[0];

const inequivalent = (arg: string, text: string) =>
  soft(406, '50.10', `inequivalent arg '${arg}' for queue 'q' in vhost 'V': ${text}`);

const differs = (arg: string, received: string, current: string) =>
  inequivalent(arg, `received '${received}' but current is '${current}'`);

const ttl = (value: Values[string]): Values => ({ 'x-message-ttl': value });

/** Declared first, declared again, and what comes of it. */
const redeclared: readonly (readonly [what: string, first: Values, second: Values, expected: unknown])[] = [
  ['the same arguments', { 'x-message-ttl': 5, 'x-max-length': 3 }, { 'x-message-ttl': 5, 'x-max-length': 3 }, 'ok'],
  ['another TTL', { 'x-message-ttl': 1000 }, { 'x-message-ttl': 2000 }, differs('x-message-ttl', '2000', '1000')],
  ['another expiry', { 'x-expires': 60_000 }, { 'x-expires': 70_000 }, differs('x-expires', '70000', '60000')],
  [
    'another DLX',
    { 'x-dead-letter-exchange': 'a' },
    { 'x-dead-letter-exchange': 'b' },
    differs('x-dead-letter-exchange', 'b', 'a'),
  ],
  [
    'another dead-letter key',
    { 'x-dead-letter-exchange': 'a', 'x-dead-letter-routing-key': 'k' },
    { 'x-dead-letter-exchange': 'a', 'x-dead-letter-routing-key': 'l' },
    differs('x-dead-letter-routing-key', 'l', 'k'),
  ],
  ['another length', { 'x-max-length': 1 }, { 'x-max-length': 2 }, differs('x-max-length', '2', '1')],
  [
    'another number of bytes',
    { 'x-max-length-bytes': 1 },
    { 'x-max-length-bytes': 2 },
    differs('x-max-length-bytes', '2', '1'),
  ],
  ['another priority', { 'x-max-priority': 1 }, { 'x-max-priority': 2 }, differs('x-max-priority', '2', '1')],
  [
    'another overflow',
    { 'x-overflow': 'drop-head' },
    { 'x-overflow': 'reject-publish' },
    differs('x-overflow', 'reject-publish', 'drop-head'),
  ],
  [
    'single active consumer no more',
    { 'x-single-active-consumer': true },
    { 'x-single-active-consumer': false },
    differs('x-single-active-consumer', 'false', 'true'),
  ],
  [
    'another queue type',
    { 'x-queue-type': 'classic' },
    { 'x-queue-type': 'quorum' },
    differs('x-queue-type', 'quorum', 'classic'),
  ],
  [
    'a DLX where there was none',
    {},
    { 'x-dead-letter-exchange': 'a' },
    inequivalent('x-dead-letter-exchange', "received the value 'a' of type 'longstr' but current is none"),
  ],
  [
    'no DLX where there was one',
    { 'x-dead-letter-exchange': 'a' },
    {},
    inequivalent('x-dead-letter-exchange', "received none but current is the value 'a' of type 'longstr'"),
  ],
  [
    'a TTL where there was none',
    {},
    { 'x-message-ttl': { type: 's', value: 10 } },
    inequivalent('x-message-ttl', "received the value '10' of type 'short' but current is none"),
  ],
  [
    'no TTL where there was one, with its type as first declared',
    { 'x-message-ttl': { type: 'b', value: 10 } },
    {},
    inequivalent('x-message-ttl', "received none but current is the value '10' of type 'byte'"),
  ],
  [
    'another number, as a double',
    ttl(1000),
    ttl({ type: 'd', value: 1234.5 }),
    differs('x-message-ttl', '1234.5', '1000'),
  ],
  ['the same number, as a text', ttl(1000), ttl('1000'), differs('x-message-ttl', '1000', '1000')],
  ['a bool', ttl(1000), ttl(true), differs('x-message-ttl', 'true', '1000')],
  [
    'an array',
    ttl(1),
    ttl(array([int32(1), longstr('a')])),
    differs('x-message-ttl', '[{signedint,1},{longstr,<<"a">>}]', '1'),
  ],
  ['a table', ttl(1), ttl(table(args({ a: 'b' }))), differs('x-message-ttl', '[{<<"a">>,longstr,<<"b">>}]', '1')],
  [
    'nothing, by name',
    ttl(5),
    ttl({ type: 'V', value: undefined }),
    inequivalent('x-message-ttl', "received none but current is '5'"),
  ],
  ['the default type, named', {}, { 'x-queue-type': 'classic' }, 'ok'],
  ['the default type, no longer named', { 'x-queue-type': 'classic' }, {}, 'ok'],
  [
    'another queue type where there was none',
    {},
    { 'x-queue-type': 'quorum' },
    since4(
      inequivalent('x-queue-type', "received the value 'quorum' of type 'longstr' but current is none"),
      differs('x-queue-type', 'quorum', 'classic'),
    ),
  ],
  ['an argument of other queue types', {}, { 'x-delivery-limit': 1 }, 'ok'],
  [
    'several differences: the first of the list is named, here x-expires',
    { 'x-max-length': 1, 'x-message-ttl': 1, 'x-expires': 60_000 },
    { 'x-max-length': 2, 'x-message-ttl': 2, 'x-expires': 60_001 },
    differs('x-expires', '60001', '60000'),
  ],
  [
    'a difference in TTL and in DLX: the TTL is named',
    { 'x-dead-letter-exchange': 'a', 'x-message-ttl': 1 },
    { 'x-dead-letter-exchange': 'b', 'x-message-ttl': 2 },
    differs('x-message-ttl', '2', '1'),
  ],
  [
    'a length and an overflow: the length is named',
    { 'x-overflow': 'drop-head', 'x-max-length': 1 },
    { 'x-overflow': 'reject-publish', 'x-max-length': 2 },
    differs('x-max-length', '2', '1'),
  ],
];

const flags: readonly (readonly [what: string, first: QueueOptions, second: QueueOptions, expected: unknown])[] = [
  ['durable', { durable: false }, { durable: true }, differs('durable', 'true', 'false')],
  ['auto_delete', { autoDelete: false }, { autoDelete: true }, differs('auto_delete', 'true', 'false')],
  ['durable before auto_delete', {}, { durable: true, autoDelete: true }, differs('durable', 'true', 'false')],
  [
    'auto_delete before the arguments',
    {},
    { autoDelete: true, arguments: args({ 'x-message-ttl': 1 }) },
    differs('auto_delete', 'true', 'false'),
  ],
];

/** Section F: declaring again what exists. */
export const equivalenceCases: readonly Case[] = [
  ...redeclared.map(([what, first, second, expected]) =>
    contract(
      `rule F10: declared again with ${what}`,
      async (_session, channel) => {
        await channel.declareQueue('q', { durable: true, arguments: args(first) });
        return attempt(channel.declareQueue('q', { durable: true, arguments: args(second) }));
      },
      expected,
    ),
  ),
  ...flags.map(([what, first, second, expected]) =>
    contract(
      `rule F10: the flags are compared: ${what}`,
      async (_session, channel) => {
        await channel.declareQueue('q', first);
        return attempt(channel.declareQueue('q', second));
      },
      expected,
    ),
  ),
  ...(['b', 's', 'I', 'l'] as const).map((type) =>
    contract(
      `rule F11: a TTL of 100 as int64 equals 100 as wire type ${type}`,
      async (_session, channel) => {
        await channel.declareQueue('q', { arguments: args({ 'x-message-ttl': { type: 'l', value: 100 } }) });
        return attempt(channel.declareQueue('q', { arguments: args({ 'x-message-ttl': { type, value: 100 } }) }));
      },
      'ok',
    ),
  ),
  contract(
    'rule F11: a double is another value, and reported as inequivalent though it is invalid',
    async (_session, channel) => {
      await channel.declareQueue('q', { arguments: args({ 'x-message-ttl': 100 }) });
      const answer = await attempt(
        channel.declareQueue('q', { arguments: args({ 'x-message-ttl': { type: 'd', value: 100 } }) }),
      );
      return (answer as { text: string }).text.split(':')[0];
    },
    "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q' in vhost 'V'",
  ),
  contract(
    'rule F11: an invalid value on an existing queue is an inequivalence',
    async (_session, channel) => {
      await channel.declareQueue('q', { arguments: args({ 'x-message-ttl': 100 }) });
      return attempt(channel.declareQueue('q', { arguments: args({ 'x-message-ttl': -1 }) }));
    },
    differs('x-message-ttl', '-1', '100'),
  ),
  contract(
    'rule F11: unknown arguments are not compared, policies play no part, passive compares nothing',
    async (session, channel) => {
      await session.setPolicy('ttl', { pattern: 'q', definition: { 'message-ttl': 60_000 } });
      await channel.declareQueue('q', { arguments: args({ 'x-unheard-of': 'yes', 'x-max-length': 1 }) });
      const again = { arguments: args({ 'x-unheard-of': 'no', 'x-max-length': 1 }) };
      const passive = { passive: true, durable: true, arguments: args({ 'x-max-length': 99 }) };
      return [await attempt(channel.declareQueue('q', again)), await attempt(channel.declareQueue('q', passive))];
    },
    ['ok', 'ok'],
  ),
];
