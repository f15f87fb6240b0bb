import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Channel, silentOutbox, type VirtualHost } from '../../../engine/broker/index.js';
import { Message, noProperties, toFieldTable } from '../../../engine/message/index.js';
import { harness } from '../../../testing.js';
import { BindingIndex, keysOf, oneKey, overlaps } from './binding-index.js';
import { Reach } from './reach.js';
import { deadLetterGraphOf } from './dead-letter-graph.js';
import { type Topology, topologyOf } from './topology.js';

describe('the topology', () => {
  let vhost: VirtualHost;
  let channel: Channel;

  beforeEach(() => {
    const { broker } = harness();
    vhost = broker.virtualHost('/');
    channel = broker.connect().openChannel(silentOutbox);
  });

  /** Work to its end, and how often it could have paused. */
  const whole = <T>(work: Iterator<void, T, void>): { readonly value: T; readonly pauses: number } => {
    for (let pauses = 0; ; pauses++) {
      const { done, value } = work.next();
      if (done === true) return { value, pauses };
    }
  };
  const read = (): Topology => topologyOf(vhost, whole(deadLetterGraphOf(vhost)).value);
  /** A queue that dead-letters to an exchange, with a key or without. */
  const queue = (name: string, dlx?: string, key?: string, more: Record<string, unknown> = {}): void => {
    const args = {
      ...(dlx !== undefined && { 'x-dead-letter-exchange': dlx }),
      ...(key !== undefined && { 'x-dead-letter-routing-key': key }),
      ...more,
    };
    channel.declareQueue(name, { arguments: toFieldTable(args) });
  };
  const exchange = (name: string, type: string, more: Record<string, unknown> = {}): void =>
    channel.declareExchange(name, { type, arguments: toFieldTable(more) });
  const reaches = (name: string): Record<string, boolean> => {
    const edge = read().edges.find((each) => each.queue.name === name)!;
    return Object.fromEntries([...edge.reaches].map(([reached, certainty]) => [reached.name, certainty === 'always']));
  };
  const loops = () =>
    read().loops.map(({ edges, kind, delay, certain }) => ({
      queues: edges.map((edge) => edge.queue.name),
      kind,
      delay,
      certain,
    }));
  const ttl = (milliseconds: number) => ({ 'x-message-ttl': milliseconds });

  describe('shows where dead letters go', () => {
    it('can pause after each binding and each queue', () => {
      exchange('x', 'topic');
      queue('q');
      for (let n = 0; n < 500; n++) channel.bindQueue('q', 'x', `key.${n}`);
      for (let n = 0; n < 300; n++) queue(`q${n}`);
      const { value, pauses } = whole(deadLetterGraphOf(vhost));
      const { bindings, queues } = topologyOf(vhost, value);
      expect([bindings.length, queues.length]).toEqual([500, 301]);
      expect(pauses).toBeGreaterThanOrEqual(801);
    });

    it('with a key of the queue’s own choice for certain', () => {
      exchange('dlx', 'direct');
      queue('dead');
      queue('other');
      channel.bindQueue('dead', 'dlx', 'failed');
      channel.bindQueue('other', 'dlx', 'else');
      queue('work', 'dlx', 'failed');
      expect(reaches('work')).toEqual({ dead: true });
    });

    it('without one as far as bindings tell under which keys messages come', () => {
      exchange('orders', 'topic');
      exchange('dlx', 'topic');
      for (const name of ['created', 'all', 'paid']) queue(name);
      queue('work', 'dlx');
      channel.bindQueue('work', 'orders', 'order.*.eu');
      channel.bindQueue('created', 'dlx', 'order.created.#');
      channel.bindQueue('paid', 'dlx', 'payment.*.eu');
      channel.bindQueue('all', 'dlx', '#');
      expect(reaches('work')).toEqual({ created: false, all: true });
    });

    it('to everything a fanout has, perhaps to what a headers exchange has, and on to alternates', () => {
      exchange('all', 'fanout');
      exchange('some', 'headers', { 'alternate-exchange': 'all' });
      exchange('none', 'direct', { 'alternate-exchange': 'all' });
      queue('a');
      queue('b');
      channel.bindQueue('a', 'all', 'whatever');
      channel.bindQueue('b', 'some', '', toFieldTable({ 'x-match': 'any', tenant: 1 }));
      queue('to all', 'all');
      queue('to some', 'some');
      queue('to none', 'none', 'key');
      expect(reaches('to all')).toEqual({ a: true });
      expect(reaches('to some')).toEqual({ b: false, a: false });
      expect(reaches('to none')).toEqual({ a: true });
    });

    it('through a delayed exchange as the type does that it routes by', () => {
      for (const type of ['direct', 'topic', 'headers']) {
        exchange(type, 'x-delayed-message', { 'x-delayed-type': type });
        queue(`of ${type}`);
        queue(`beside ${type}`);
        channel.bindQueue(`of ${type}`, type, 'key');
        channel.bindQueue(`beside ${type}`, type, 'other');
        queue(`to ${type}`, type, 'key');
      }
      expect(reaches('to direct')).toEqual({ 'of direct': true });
      expect(reaches('to topic')).toEqual({ 'of topic': true });
      expect(reaches('to headers')).toEqual({ 'of headers': false, 'beside headers': false });
      queue('own key', 'direct');
      expect(reaches('own key')).toEqual({});
    });

    it('by policy, and says so', () => {
      queue('work');
      vhost.setPolicy('dead letters', { pattern: '^work$', definition: { 'dead-letter-exchange': '' } });
      queue('own', '', 'work');
      const sources = read().edges.map(({ queue: { name }, by }) => [name, by]);
      expect(sources).toEqual([
        ['work', 'policy'],
        ['own', 'argument'],
      ]);
      expect(reaches('own')).toEqual({ work: true });
    });

    it('nowhere, when the exchange is not there', () => {
      queue('work', 'gone', 'key');
      exchange('half', 'direct', { 'alternate-exchange': 'gone too' });
      expect(read()).toMatchObject({
        edges: [{ exchange: 'gone', exchangeExists: false }],
        dangling: [
          { kind: 'dead-letter-exchange', of: 'work', exchange: 'gone' },
          { kind: 'alternate-exchange', of: 'half', exchange: 'gone too' },
        ],
      });
    });
  });

  describe('finds loops', () => {
    it('of a work queue and its wait queue: a retry (I4c)', () => {
      queue('work', '', 'wait');
      queue('wait', '', 'work', ttl(5_000));
      expect(loops()).toEqual([{ queues: ['wait', 'work'], kind: 'retry', delay: 5_000, certain: true }]);
    });

    it('that go round by themselves: rule I2 drops what does (I4a, I4b, I4e)', () => {
      queue('self', '', 'self', ttl(10));
      queue('a', '', 'b', ttl(10));
      queue('b', '', 'a', { 'x-max-length': 1 });
      expect(loops()).toEqual([
        { queues: ['self'], kind: 'dropped', delay: 10, certain: true },
        { queues: ['a', 'b'], kind: 'dropped', delay: 10, certain: true },
      ]);
    });

    it('that spin: a rejected message is back at once (I4d)', () => {
      queue('hot', '', 'hot');
      expect(loops()).toEqual([{ queues: ['hot'], kind: 'spin', delay: 0, certain: true }]);
    });

    it('of keys that stay: through an exchange both sides are bound to', () => {
      exchange('x', 'direct');
      queue('one', 'x');
      channel.bindQueue('one', 'x', 'k');
      expect(loops()).toEqual([{ queues: ['one'], kind: 'spin', delay: 0, certain: false }]);
    });

    it('and none in a tree', () => {
      queue('work', '', 'dead');
      queue('dead', '', 'buried');
      queue('buried');
      expect(loops()).toEqual([]);
    });

    it('through every step that lies on one, of a hundred queues in a ring with chords', () => {
      exchange('chord', 'fanout');
      for (let number = 0; number < 100; number++) queue(`q${number}`, '', `q${(number + 1) % 100}`);
      queue('shortcut', '', 'q50');
      vhost.setPolicy('chords', { pattern: '^none$', definition: { 'dead-letter-exchange': 'chord' } });
      const found = loops();
      expect(found.map(({ queues }) => queues.length)).toEqual([100]);
    });

    it('of a fanout in which all dead-letter to all, without counting through every way', () => {
      exchange('all', 'fanout');
      for (let number = 0; number < 40; number++) {
        queue(`q${number}`, 'all');
        channel.bindQueue(`q${number}`, 'all', '');
      }
      expect(read().loops.length).toBe(200);
    });
  });

  it('routes a known key as the engine does, through any bindings', () => {
    const word = fc.constantFrom('a', 'b', '*', '#');
    const key = fc.array(word, { maxLength: 3 }).map((words) => words.join('.'));
    const names = ['x0', 'x1', 'x2', 'x3'];
    const binding = fc.record({ from: fc.constantFrom(...names), to: fc.nat(7), key });
    const types = fc.array(fc.constantFrom('direct', 'fanout', 'topic'), { minLength: 4, maxLength: 4 });
    const alternates = fc.array(fc.option(fc.constantFrom(...names)), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(types, alternates, fc.array(binding, { maxLength: 20 }), key, (kinds, others, bindings, asked) => {
        const { broker } = harness();
        const made = broker.connect().openChannel(silentOutbox);
        for (const [index, name] of names.entries()) {
          const args = others[index] ? { 'alternate-exchange': others[index] } : {};
          made.declareExchange(name, { type: kinds[index]!, arguments: toFieldTable(args) });
          made.declareQueue(`q${index}`, {});
        }
        for (const { from, to, key: bindingKey } of bindings) {
          if (to < 4) made.bindQueue(`q${to}`, from, bindingKey);
          else made.bindExchange(`x${to - 4}`, from, bindingKey);
        }
        const host = broker.virtualHost('/');
        const reached = whole(new Reach(whole(BindingIndex.of(host)).value).from('x0', oneKey(asked))).value!;
        const routed = host.wouldRoute('x0', asked, new Message('', '', noProperties, new Uint8Array()));
        expect([...reached.keys()].map((each) => each.name).sort()).toEqual([...routed].sort());
        expect([...reached.values()].every((certain) => certain)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('says that two patterns overlap exactly when some key fits both', () => {
    const word = fc.constantFrom('a', 'b', '*', '#');
    const pattern = fc.array(word, { maxLength: 4 }).map((words) => words.join('.'));
    const all = (length: number): string[] =>
      length === 0
        ? ['']
        : all(length - 1).flatMap((key) => ['a', 'b', 'c'].map((next) => (key === '' ? next : `${key}.${next}`)));
    // Patterns of four words have at most three beside a `#`, so the shortest key that fits both has six: all six in a row.
    const keys = [0, 1, 2, 3, 4, 5, 6].flatMap(all);
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        const both = [keysOf('topic', one), keysOf('topic', other)] as const;
        const common = keys.some((key) => both.every((each) => overlaps(each, oneKey(key))));
        expect(overlaps(...both)).toBe(common);
      }),
      { numRuns: 300, examples: [['#.a.a.a', 'a.a.b.#']] },
    );
  });
});
