import {
  array,
  int32,
  int64,
  longstr,
  table,
  timestamp,
  type Field,
} from '../../../libs/dlx-broker/src/engine/message/index.js';
import { args, attempt, contract, since4, soft, type Case } from '../contract.js';

type Values = Parameters<typeof args>[0];

/** Rule P7: a pattern, the keys it matches and keys it does not. */
const topics: readonly (readonly [pattern: string, matches: readonly string[], misses: readonly string[]])[] = [
  ['a.b', ['a.b'], ['a', 'a.b.c', 'A.b', 'a.B', '']],
  ['*', ['a', '*', '#'], ['', 'a.b', '.']],
  ['#', ['', 'a', 'a.b', '.', 'a..b'], []],
  ['#.#', ['', 'a', 'a.b.c'], []],
  ['', [''], ['a', '.']],
  ['a.*', ['a.b', 'a.'], ['a', 'a.b.c', 'b.a']],
  ['a.#', ['a', 'a.', 'a.b', 'a.b.c'], ['b', 'ab', '']],
  ['*.', ['a.', '.'], ['a', 'a.b', '']],
  ['#.*', ['a', 'a.b', '.'], ['']],
  ['*.#', ['a', 'a.b', '.'], ['']],
  ['*.*', ['.', 'a.b', 'a.'], ['a', '', 'a.b.c']],
  ['a.#.b', ['a.b', 'a.x.b', 'a.x.y.b', 'a..b'], ['a', 'b', 'a.b.c']],
  ['#.a.#', ['a', 'x.a', 'a.x', 'x.a.y', 'x.y.a'], ['', 'x', 'xa']],
  ['a*', ['a*'], ['ab', 'a', 'a.b']],
  ['#a', ['#a'], ['a', 'xa', 'x.a']],
  ['*.b.#', ['a.b', 'a.b.c', '.b'], ['b', 'b.c', 'a.c.b']],
  ['*.*.*', ['a.b.c', '..'], ['a.b', 'a.b.c.d']],
  ['#.b.*', ['b.c', 'a.b.c', 'b.b.c'], ['b', 'a.b', 'a.c.b']],
];

const double = (value: number): Field => ({ type: 'd', value });
const decimal = (): Field => ({ type: 'D', value: { scale: 1, value: 15 } });

/** Rule P8: arguments of a binding, headers of a message, whether they match. */
const headers: readonly (readonly [what: string, binding: Values, message: Values | undefined, matches: unknown])[] = [
  ['all: every one equal', { a: 1, b: 'x' }, { a: 1, b: 'x', c: true }, true],
  ['all: one missing', { a: 1, b: 'x' }, { a: 1 }, false],
  ['all: one different', { a: 1, b: 'x' }, { a: 1, b: 'y' }, false],
  ['all by name', { 'x-match': 'all', a: 1 }, { a: 1 }, true],
  ['any: one equal is enough', { 'x-match': 'any', a: 1, b: 2 }, { a: 9, b: 2 }, true],
  ['any: none equal', { 'x-match': 'any', a: 1, b: 2 }, { a: 2, b: 1 }, false],
  ['all with nothing to match is always true', {}, { a: 1 }, true],
  ['all with nothing to match is true for messages without headers', {}, undefined, true],
  ['all with something is false for messages without headers', { a: 1 }, undefined, false],
  ['any with nothing to match is never true', { 'x-match': 'any' }, { a: 1 }, false],
  ['all ignores arguments that start with x-', { 'x-colour': 'red', a: 1 }, { a: 1 }, true],
  ['any ignores arguments that start with x-', { 'x-match': 'any', 'x-colour': 'red' }, { 'x-colour': 'red' }, false],
  ['all-with-x looks at them', { 'x-match': 'all-with-x', 'x-colour': 'red', a: 1 }, { a: 1 }, false],
  ['all-with-x with all there', { 'x-match': 'all-with-x', 'x-colour': 'red' }, { 'x-colour': 'red' }, true],
  ['any-with-x looks at them', { 'x-match': 'any-with-x', 'x-colour': 'red' }, { 'x-colour': 'red' }, true],
  ['void means present', { a: { type: 'V', value: undefined } }, { a: 'anything' }, true],
  ['void means present, and it is not', { a: { type: 'V', value: undefined } }, { b: 1 }, false],
  ['an int32 equals the int64 of its value', { a: { type: 'l', value: 1 } }, { a: { type: 'b', value: 1 } }, true],
  ['an integer equals the double of its value, until 4', { a: 1 }, { a: { type: 'd', value: 1 } }, since4(true, false)],
  ['a float equals the double of its value', { a: { type: 'f', value: 1.5 } }, { a: { type: 'd', value: 1.5 } }, true],
  ['zero equals minus zero, until 4', { a: 0 }, { a: double(-0) }, since4(true, false)],
  ['a large integer equals its double, until 4', { a: int64(2n ** 60n) }, { a: double(2 ** 60) }, since4(true, false)],
  ['and not the double beside it', { a: int64(2n ** 53n + 1n) }, { a: double(2 ** 53) }, false],
  ['an integer equals the timestamp of its value, until 4', { a: 5 }, { a: timestamp(5) }, since4(true, false)],
  ['a timestamp equals itself until 4', { a: timestamp(5) }, { a: timestamp(5) }, since4(true, false)],
  ['since 4 a header that is a timestamp counts milliseconds', { a: 5000 }, { a: timestamp(5) }, since4(false, true)],
  ['minus zero equals itself', { a: double(-0) }, { a: double(-0) }, true],
  ['zeros of both signs until 4', { a: double(0) }, { a: double(-0) }, since4(true, false)],
  ['a double is no text that looks like it', { a: double(1.5) }, { a: 'd1.5' }, false],
  ['a text equals its bytes', { a: 'abc' }, { a: { type: 'x', value: new TextEncoder().encode('abc') } }, true],
  ['decimals by value', { a: decimal() }, { a: decimal() }, true],
  ['arrays of other wire types', { a: array([int32(1)]) }, { a: array([int64(1)]) }, false],
  ['an array is no text that looks like it', { a: array([int32(1)]) }, { a: 'A[{signedint,1}]' }, false],
  ['also beside another header', { b: 1, a: array([int32(1)]) }, { b: 1, a: 'A[{signedint,1}]' }, false],
  ['a string is no number', { a: 1 }, { a: '1' }, false],
  ['a bool is no string', { a: true }, { a: 'true' }, false],
  ['a bool is no number', { a: true }, { a: 1 }, false],
  ['bools by value', { a: true }, { a: true }, true],
  ['bools that differ', { a: true }, { a: false }, false],
  ['arrays by content', { a: array([int32(1), longstr('x')]) }, { a: array([int32(1), longstr('x')]) }, true],
  ['arrays that differ', { a: array([int32(1)]) }, { a: array([int32(2)]) }, false],
  ['tables by content', { a: table(args({ b: 1 })) }, { a: table(args({ b: 1 })) }, true],
  ['names count by case', { A: 1 }, { a: 1 }, false],
  ['strings count by case', { a: 'X' }, { a: 'x' }, false],
];

/** Section P: which keys and headers match. */
export const matchingCases: readonly Case[] = [
  ...topics.map(([pattern, matches, misses]) =>
    contract(
      `rule P7: the pattern '${pattern}' matches ${matches.map((key) => `'${key}'`).join(', ')} and no others`,
      async (session, channel) => {
        await channel.declareQueue('q');
        await channel.bindQueue('q', 'amq.topic', pattern === '' ? '' : pattern);
        for (const key of [...matches, ...misses]) await channel.publish('amq.topic', key, { body: key });
        return (await session.drain('q')).map(({ routingKey }) => routingKey);
      },
      matches,
    ),
  ),
  contract(
    'rule P7: several matching patterns of one queue give one copy',
    async (session, channel) => {
      await channel.declareQueue('q');
      for (const pattern of ['a.*', '#', '*.b', 'a.b']) await channel.bindQueue('q', 'amq.topic', pattern);
      await channel.publish('amq.topic', 'a.b');
      return (await session.drain('q')).length;
    },
    1,
  ),
  contract(
    'rule P7: removing one pattern leaves the others',
    async (session, channel) => {
      await channel.declareQueue('q');
      for (const pattern of ['a.#', 'a.*']) await channel.bindQueue('q', 'amq.topic', pattern);
      await channel.unbindQueue('q', 'amq.topic', 'a.#');
      for (const key of ['a', 'a.b', 'a.b.c']) await channel.publish('amq.topic', key);
      return (await session.drain('q')).map(({ routingKey }) => routingKey);
    },
    ['a.b'],
  ),
  ...headers.map(([what, binding, message, matches]) =>
    contract(
      `rule P8: ${what}`,
      async (session, channel) => {
        await channel.declareQueue('q');
        await channel.bindQueue('q', 'amq.headers', '', args(binding));
        await channel.publish('amq.headers', 'ignored', {
          properties: message === undefined ? {} : { headers: args(message) },
        });
        return (await session.drain('q')).length === 1;
      },
      matches,
    ),
  ),
  ...(
    [
      ['some', 'Invalid x-match field value <<"some">>; expected all, any, all-with-x, or any-with-x'],
      ['', 'Invalid x-match field value <<>>; expected all, any, all-with-x, or any-with-x'],
      [{ type: 'V', value: undefined }, 'Invalid x-match field type void (value undefined); expected longstr'],
      [array([longstr('a')]), 'Invalid x-match field type array (value [{longstr,<<"a">>}]); expected longstr'],
      [{ type: 'b', value: 5 }, 'Invalid x-match field type byte (value 5); expected longstr'],
    ] as const satisfies readonly (readonly [string | Field, string])[]
  ).map(([value, text]) =>
    contract(
      `rule P8: an x-match of ${JSON.stringify(value)} is refused`,
      async (_session, channel) => {
        await channel.declareQueue('q');
        return attempt(channel.bindQueue('q', 'amq.headers', '', args({ 'x-match': value })));
      },
      soft(406, '50.20', text),
    ),
  ),
];
