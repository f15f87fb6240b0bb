import { describe, expect, it } from 'vitest';
import { listen } from '../../../../../../test/harnesses/listener.js';
import { harness } from '../../../nest/testing/harness.js';
import { array, emptyTable, type Field, type FieldTable, int32, longstr, Message } from '../../message/index.js';
import type { Router } from './router.js';
import { exchangeTypes } from './types.js';
import { profiles } from '../profile.js';

const body = new Uint8Array(0);
const tableOf = (entries: Record<string, Field>): FieldTable => new Map(Object.entries(entries));
const router = (type: string): Router<string> => exchangeTypes.get(type)!.createRouter<string>(profiles['3.10']);
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
  it('keeps a destination while one of its bindings is left', () => {
    const direct = router('direct');
    bind(direct, 'a', 'red');
    bind(direct, 'a', 'red', tableOf({ other: int32(1) }));
    bind(direct, 'a', 'blue');
    unbind(direct, 'a', 'red');
    expect(route(direct, 'red')).toEqual(['a']);
    expect(route(direct, 'Red')).toEqual([]);
    unbind(direct, 'a', 'red', tableOf({ other: int32(1) }));
    expect(route(direct, 'red')).toEqual([]);
    expect(route(direct, 'blue')).toEqual(['a']);
    unbind(direct, 'b', 'never');
  });
});

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
  const ab = { a: int32(1), b: longstr('x') };

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
