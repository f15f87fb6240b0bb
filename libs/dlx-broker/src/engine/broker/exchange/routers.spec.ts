import { describe, expect, it } from 'vitest';
import { listen } from '../../../../../../test/harnesses/listener.js';
import { harness } from '../../../nest/testing/harness.js';
import {
  array,
  bool,
  emptyTable,
  type Field,
  type FieldTable,
  int32,
  int64,
  longstr,
  Message,
  table,
} from '../../message/index.js';
import { checkAlternateExchange, checkSameExchange } from '../commands/declare.js';
import { DefaultRouter } from './direct.js';
import { checkHeadersBinding } from './headers.js';
import type { Router } from './router.js';
import { exchangeTypes } from './types.js';

const body = new Uint8Array(0);
const tableOf = (entries: Record<string, Field>): FieldTable => new Map(Object.entries(entries));
const router = (type: string): Router<string> => exchangeTypes.get(type)!.createRouter<string>();
const bind = (to: Router<string>, destination: string, bindingKey: string, args = emptyTable): void =>
  to.bind({ destination, bindingKey, arguments: args });
const unbind = (from: Router<string>, destination: string, bindingKey: string, args = emptyTable): void =>
  from.unbind({ destination, bindingKey, arguments: args });
const route = (by: Router<string>, key: string, headers?: FieldTable): string[] => {
  const into = new Set<string>();
  by.route(new Message('x', key, headers === undefined ? {} : { headers }, body), key, into);
  return [...into].sort();
};

describe('a direct exchange', () => {
  it('routes by equal keys, each queue once (rule G4)', () => {
    const direct = router('direct');
    bind(direct, 'a', 'red');
    bind(direct, 'a', 'red', tableOf({ other: int32(1) }));
    bind(direct, 'b', 'red');
    bind(direct, 'b', '');
    expect(route(direct, 'red')).toEqual(['a', 'b']);
    expect(route(direct, '')).toEqual(['b']);
    expect(route(direct, 'Red')).toEqual([]);
  });

  it('keeps a destination while one of its bindings is left', () => {
    const direct = router('direct');
    bind(direct, 'a', 'red');
    bind(direct, 'a', 'red', tableOf({ other: int32(1) }));
    bind(direct, 'a', 'blue');
    unbind(direct, 'a', 'red');
    expect(route(direct, 'red')).toEqual(['a']);
    unbind(direct, 'a', 'red', tableOf({ other: int32(1) }));
    expect(route(direct, 'red')).toEqual([]);
    expect(route(direct, 'blue')).toEqual(['a']);
    unbind(direct, 'b', 'never');
  });
});

describe('a fanout exchange', () => {
  it('ignores the key (rule P9)', () => {
    const fanout = router('fanout');
    bind(fanout, 'a', 'one');
    bind(fanout, 'a', 'two');
    bind(fanout, 'b', '');
    expect(route(fanout, 'any')).toEqual(['a', 'b']);
    unbind(fanout, 'a', 'one');
    expect(route(fanout, 'any')).toEqual(['a', 'b']);
    unbind(fanout, 'a', 'two');
    expect(route(fanout, 'any')).toEqual(['b']);
  });
});

describe('the default exchange', () => {
  it('routes to the queue of that name (rule G7)', () => {
    const queues = new Map([['work', 'the queue']]);
    const byName = new DefaultRouter<string>((name) => queues.get(name));
    expect(route(byName, 'work')).toEqual(['the queue']);
    expect(route(byName, 'constructor')).toEqual([]);
  });
});

const matches = (pattern: string, key: string): boolean => {
  const topic = router('topic');
  bind(topic, 'q', pattern);
  return route(topic, key).length === 1;
};

/** The rule itself, slowly: for comparison with the trie. */
function slowly(pattern: readonly string[], key: readonly string[]): boolean {
  if (pattern.length === 0) return key.length === 0;
  const [word, ...rest] = pattern;
  if (word === '#') return slowly(rest, key) || (key.length > 0 && slowly(pattern, key.slice(1)));
  if (key.length === 0) return false;
  return (word === '*' || word === key[0]) && slowly(rest, key.slice(1));
}
const words = (text: string): string[] => (text === '' ? [] : text.split('.'));

describe('a topic exchange', () => {
  it.each([
    ['', ''],
    ['#', ''],
    ['#.#', ''],
    ['a.*', 'a.'],
    ['a.#', 'a.'],
    ['*.', 'a.'],
    ['*.*', '.'],
    ['a.#.b', 'a.b'],
    ['a.#.b', 'a.x.y.b'],
    ['#.a.#', 'a'],
    ['#.a.#', 'x.a.y.z'],
    ['a*', 'a*'],
    ['*', '#'],
    ['*', '*'],
  ])('matches %j with %j (rule P7)', (pattern, key) => expect(matches(pattern, key)).toBe(true));

  it.each([
    ['*', ''],
    ['#.*', ''],
    ['*.#', ''],
    ['a*', 'ab'],
    ['#a', 'a'],
    ['a', 'A'],
    ['a', '*'],
    ['a.b', 'a.#'],
    ['a.*.b', 'a.b'],
    ['a.b', 'a'],
    ['a', 'a.b'],
  ])('does not match %j with %j (rule P7)', (pattern, key) => expect(matches(pattern, key)).toBe(false));

  it('says the same as the rule for every pattern and key of up to four words', () => {
    const texts = (alphabet: string[]): string[] => {
      let all = [''];
      const found = [''];
      for (let length = 1; length <= 4; length++) {
        all = all.flatMap((text) => alphabet.map((word) => (length === 1 ? word : `${text}.${word}`)));
        found.push(...all);
      }
      return found.filter((text, index) => found.indexOf(text) === index);
    };
    const patterns = texts(['a', 'b', '*', '#']);
    const topic = router('topic');
    for (const pattern of patterns) bind(topic, pattern, pattern);
    for (const key of texts(['a', 'b', ''])) {
      const expected = patterns.filter((pattern) => slowly(words(pattern), words(key))).sort();
      expect(route(topic, key)).toEqual(expected);
    }
    for (const pattern of patterns) unbind(topic, pattern, pattern);
    for (const key of texts(['a', 'b'])) expect(route(topic, key)).toEqual([]);
  });

  it('caches a result only until a binding changes', () => {
    const topic = router('topic');
    bind(topic, 'a', 'x.*');
    expect(route(topic, 'x.y')).toEqual(['a']);
    bind(topic, 'b', 'x.#');
    expect(route(topic, 'x.y')).toEqual(['a', 'b']);
    unbind(topic, 'a', 'x.*');
    expect(route(topic, 'x.y')).toEqual(['b']);
    unbind(topic, 'b', 'x.#.none');
    expect(route(topic, 'x.y')).toEqual(['b']);
  });

  it('keeps a longer pattern when its beginning is unbound, and the other way round', () => {
    const topic = router('topic');
    bind(topic, 'a', 'x.y');
    bind(topic, 'b', 'x.y.z');
    unbind(topic, 'a', 'x.y');
    expect(route(topic, 'x.y.z')).toEqual(['b']);
    bind(topic, 'a', 'x.y');
    unbind(topic, 'b', 'x.y.z');
    expect(route(topic, 'x.y')).toEqual(['a']);
  });

  it('matches patterns in bounded time, also those that are meant to be slow', () => {
    const topic = router('topic');
    bind(topic, 'a', `${'#.a.'.repeat(60)}b`);
    const start = performance.now();
    expect(route(topic, `${'a.'.repeat(126)}c`)).toEqual([]);
    expect(performance.now() - start).toBeLessThan(5_000); // under a millisecond; without a bound it would be years
  });
});

describe('a headers exchange', () => {
  const args = (match: string, more: Record<string, Field>): FieldTable =>
    tableOf({ 'x-match': longstr(match), ...more });
  const isBound = (binding: FieldTable, headers?: Record<string, Field>): boolean => {
    const router_ = router('headers');
    bind(router_, 'q', 'ignored', binding);
    return route(router_, 'other', headers && tableOf(headers)).length === 1;
  };
  const ab = { a: int32(1), b: longstr('x') };

  it("matches all, or any, of the binding's headers (rule P8)", () => {
    expect(isBound(tableOf(ab), { ...ab, c: bool(true) })).toBe(true);
    expect(isBound(tableOf(ab), { a: int32(1) })).toBe(false);
    expect(isBound(args('all', ab), { a: int32(1), b: longstr('y') })).toBe(false);
    expect(isBound(args('any', ab), { a: int32(2), b: longstr('x') })).toBe(true);
    expect(isBound(args('any', ab), { a: int32(2) })).toBe(false);
    expect(isBound(args('any', ab))).toBe(false);
  });

  it('with nothing to match: all always does, any never (rule P8)', () => {
    expect(isBound(emptyTable)).toBe(true);
    expect(isBound(args('all', {}), ab)).toBe(true);
    expect(isBound(args('any', {}), ab)).toBe(false);
    expect(isBound(args('any', { 'x-a': int32(1) }), { 'x-a': int32(1) })).toBe(false);
    expect(isBound(args('all', { 'x-a': int32(1) }))).toBe(true);
  });

  it('sees headers that begin with x- only in the -with-x modes (rules P8, G8)', () => {
    const died = { 'x-first-death-reason': longstr('expired') };
    expect(isBound(args('all-with-x', died), died)).toBe(true);
    expect(isBound(args('any-with-x', { ...died, z: int32(1) }), died)).toBe(true);
    expect(isBound(args('all-with-x', died), { 'x-first-death-reason': longstr('rejected') })).toBe(false);
    expect(isBound(args('all', { 'X-a': int32(1) }), { 'X-a': int32(2) })).toBe(false);
    expect(isBound(args('any-with-x', {}), { 'x-match': longstr('any-with-x') })).toBe(false);
  });

  it('takes a void value for mere presence (rule P8)', () => {
    const present = tableOf({ a: { type: 'V', value: undefined } });
    expect(isBound(present, { a: int32(0) })).toBe(true);
    expect(isBound(present, { a: { type: 'V', value: undefined } })).toBe(true);
    expect(isBound(present, { b: int32(0) })).toBe(false);
  });

  const bytes = (text: string): Field => ({ type: 'x', value: new TextEncoder().encode(text) });
  const double = (value: number): Field => ({ type: 'd', value });
  it.each<[string, Field, Field]>([
    ['int32 and int64', int32(1), int64(1)],
    ['int and double', int32(1), double(1)],
    ['zero and minus zero', int32(0), double(-0)],
    ['a bigint and its double', int64(2n ** 60n), double(2 ** 60)],
    ['int and timestamp', int32(5), { type: 'T', value: 5 }],
    ['text and bytes', longstr('abc'), bytes('abc')],
    ['equal arrays', array([int32(1)]), array([int32(1)])],
    ['equal tables', table(tableOf(ab)), table(tableOf(ab))],
    ['equal decimals', { type: 'D', value: { scale: 1, value: 15 } }, { type: 'D', value: { scale: 1, value: 15 } }],
  ])('compares by value: %s are equal (rule P8)', (_, one, other) => {
    expect(isBound(tableOf({ a: one }), { a: other })).toBe(true);
    expect(isBound(tableOf({ a: other }), { a: one })).toBe(true);
    expect(isBound(tableOf({ a: one, b: int32(1) }), { b: int32(1), a: other })).toBe(true);
  });

  it.each<[string, Field, Field]>([
    ['text and number', longstr('1'), int32(1)],
    ['bool and text', bool(true), longstr('true')],
    ['bool and number', bool(true), int32(1)],
    ['arrays of other wire types', array([int32(1)]), array([int64(1)])],
    ['an array and the text that looks like its key', array([int32(1)]), longstr('A[{signedint,1}]')],
    ['a large int and the double beside it', int64(9_007_199_254_740_993n), double(9_007_199_254_740_992)],
  ])('compares by value: %s are not (rule P8)', (_, one, other) => {
    expect(isBound(tableOf({ a: one }), { a: other })).toBe(false);
    expect(isBound(tableOf({ a: other }), { a: one })).toBe(false);
  });

  it('forgets an unbound binding, and no other one', () => {
    const headers = router('headers');
    const bindings = [tableOf(ab), args('any', ab), emptyTable, args('all', { a: int32(1) })];
    for (const each of bindings) bind(headers, 'q', 'k', each);
    bind(headers, 'other', 'k', tableOf(ab));
    for (const each of bindings) {
      expect(route(headers, '', tableOf(ab))).toEqual(['other', 'q']);
      unbind(headers, 'q', 'k', each);
    }
    expect(route(headers, '', tableOf(ab))).toEqual(['other']);
    unbind(headers, 'q', 'k', tableOf(ab));
    expect(route(headers, '', tableOf(ab))).toEqual(['other']);
  });

  it.each<[string, Field]>([
    ['value <<"some">>; expected all, any, all-with-x, or any-with-x', longstr('some')],
    ['value <<>>; expected all, any, all-with-x, or any-with-x', longstr('')],
    ['type byte (value 5); expected longstr', { type: 'b', value: 5 }],
    ['type void (value undefined); expected longstr', { type: 'V', value: undefined }],
    ['type array (value [{longstr,<<"a">>}]); expected longstr', array([longstr('a')])],
  ])('refuses an x-match: %s (rule P8)', (text, match) => {
    expect(() => checkHeadersBinding(tableOf({ 'x-match': match }))).toThrow(
      `PRECONDITION_FAILED - Invalid x-match field ${text}`,
    );
  });
});

describe('an exchange that ignores keys', () => {
  it.each(['amq.headers', 'amq.fanout', 'amq.direct'])(
    'is asked once, however many keys CC names: %s (rule G2)',
    (name) => {
      const { broker } = harness();
      const vhost = broker.virtualHost('/');
      const { channel } = listen(broker);
      channel.declareQueue('work');
      channel.bindQueue('work', name, 'key 7', new Map([['x-match', longstr('any')]]));
      channel.bindQueue('work', name, 'k', new Map([['mine', int32(1)]]));
      const { router } = vhost.exchange(name);
      const asked: string[] = [];
      const { route } = router;
      router.route = (message, key, into) => (asked.push(key), route.call(router, message, key, into));
      const keys = Array.from({ length: 1_000 }, (_, index) => longstr(`key ${index}`));
      const headers = new Map<string, Field>([
        ['CC', array(keys)],
        ['mine', int32(1)],
      ]);
      channel.publish(name, 'other', { headers }, body);
      expect(vhost.queues.get('work')?.length).toBe(1);
      expect(asked).toHaveLength(name === 'amq.direct' ? 1_001 : 1);
    },
  );
});

describe('redeclaring an exchange', () => {
  const declared = { type: 'direct', durable: true, autoDelete: false, internal: false, arguments: emptyTable };
  const redeclare = (asked: Partial<typeof declared>) => () =>
    checkSameExchange('X', 'V', declared, { ...declared, ...asked });
  const fails = "PRECONDITION_FAILED - inequivalent arg '";

  it('names the first difference (rule P2)', () => {
    expect(redeclare({})).not.toThrow();
    expect(redeclare({ type: 'fanout', durable: false })).toThrow(
      `${fails}type' for exchange 'X' in vhost 'V': received 'fanout' but current is 'direct'`,
    );
    expect(redeclare({ internal: true })).toThrow(`${fails}internal' for exchange 'X' in vhost 'V'`);
    expect(redeclare({ arguments: tableOf({ 'alternate-exchange': longstr('ae') }) })).toThrow(
      "received the value 'ae' of type 'longstr' but current is none",
    );
    expect(redeclare({ arguments: tableOf({ other: int32(1) }) })).not.toThrow();
  });

  it('wants a name for the alternate exchange (rule P6)', () => {
    const args = tableOf({ 'alternate-exchange': { type: 'b', value: 1 } });
    expect(() => checkAlternateExchange('X', 'V', args)).toThrow(
      "invalid type 'byte' for arg 'alternate-exchange' in exchange 'X' in vhost 'V'",
    );
  });
});
