import { describe, expect, it } from 'vitest';
import { type Conversion, forRabbitMq } from './for-rabbitmq.js';
import { noDeliveryLimit } from '../../backends/topology/index.js';

const vhost = '/';
const queue = (name: string, args: object = {}, more: object = {}) => ({
  name,
  vhost,
  durable: true,
  auto_delete: false,
  arguments: args,
  ...more,
});
const exchange = (name: string, type = 'topic', args: object = {}) => ({ name, vhost, type, arguments: args });
const binding = (source: string, destination: string, kind = 'queue') => ({
  source,
  vhost,
  destination,
  destination_type: kind,
});

const convert = (definitions: object, conversion: Conversion = {}) =>
  forRabbitMq(definitions as Parameters<typeof forRabbitMq>[0], conversion);

/** The arguments of one queue after the conversion of all, and the notes about it. */
function converted(args: object, more: object = {}, definitions: object = {}) {
  const { definitions: made, notes } = convert(
    { queues: [queue('q', args, more)], ...definitions },
    { isQuorum: () => true },
  );
  return { args: (made['queues'] as { arguments: object }[])[0]?.arguments, notes };
}

describe('definitions for RabbitMQ', () => {
  it('leave out delayed exchanges with their bindings, and nothing else', () => {
    const exchanges = [exchange('orders'), exchange('orders.delayed', 'x-delayed-message')];
    const bindings = [
      binding('orders', 'q'),
      binding('orders.delayed', 'orders', 'exchange'),
      binding('orders', 'orders.delayed', 'exchange'),
      binding('orders', 'orders.delayed'), // a queue of that name
    ];
    const queues = [queue('orders.delayed')];
    const { definitions, notes } = convert({ exchanges, bindings, queues, policies: [] });
    expect(definitions).toEqual({
      exchanges: [exchanges[0]],
      bindings: [bindings[0], bindings[3]],
      queues,
      policies: [],
    });
    expect(notes).toEqual([
      "exchange 'orders.delayed' in vhost '/' is left out with 2 bindings: its type x-delayed-message needs a plugin",
    ]);
  });

  it('count one binding as one', () => {
    const exchanges = [exchange('later', 'x-delayed-message')];
    const { notes } = convert({ exchanges, bindings: [binding('later', 'q')], policies: [] });
    expect(notes).toEqual([
      "exchange 'later' in vhost '/' is left out with 1 binding: its type x-delayed-message needs a plugin",
    ]);
  });

  it('leave those of other virtual hosts where they are', () => {
    const other = { ...exchange('later', 'fanout'), vhost: 'other' };
    const bindings = [{ ...binding('later', 'q'), vhost: 'other' }];
    const { definitions } = convert({ exchanges: [exchange('later', 'x-delayed-message'), other], bindings });
    expect(definitions).toEqual({ exchanges: [other], bindings, queues: [] });
  });

  it('say which objects name an exchange that is left out', () => {
    const exchanges = [
      exchange('later', 'x-delayed-message'),
      exchange('e', 'topic', { 'alternate-exchange': 'later' }),
    ];
    const policies = [{ name: 'p', vhost, definition: { 'dead-letter-exchange': 'later' } }];
    const { notes } = convert({ exchanges, queues: [queue('q', { 'x-dead-letter-exchange': 'later' })], policies });
    expect(notes.slice(1)).toEqual([
      "exchange 'e' in vhost '/' has 'later' as its alternate-exchange, which is left out",
      "queue 'q' in vhost '/' has 'later' as its x-dead-letter-exchange, which is left out",
      "policy 'p' in vhost '/' has 'later' as its dead-letter-exchange, which is left out",
    ]);
  });

  it('name the users that an import replaces, or leave them out', () => {
    const users = [{ name: 'guest', password_hash: 'x' }];
    expect(convert({ users }).notes.join()).toContain("users of these names, with their passwords: 'guest'");
    const { definitions } = convert({ users, permissions: [{ user: 'guest' }] }, { withoutUsers: true });
    expect(definitions).toMatchObject({ users: [], permissions: [], topic_permissions: [] });
  });

  it('are refused when they are none', () => {
    expect(() => convert({ queues: 'many' })).toThrow("these are no definitions: 'queues' is no list of objects");
    expect(() => convert({ queues: [1] })).toThrow("'queues' is no list of objects");
  });

  it('keep names that are special in JavaScript', () => {
    const { args } = converted(JSON.parse('{"__proto__": 1, "constructor": 2}') as object);
    expect(Object.keys(args ?? {})).toEqual(['__proto__', 'constructor', 'x-queue-type', 'x-delivery-limit']);
  });
});

describe('a queue becomes a quorum queue', () => {
  const dlx = { 'x-dead-letter-exchange': 'dlx' };
  const pair = { 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' };
  const quorum = { 'x-queue-type': 'quorum' };
  const unlimited = { ...quorum, 'x-delivery-limit': noDeliveryLimit };

  it('rule M1: with at-least-once and reject-publish as a pair, and a delivery limit', () => {
    expect(converted(dlx)).toEqual({ args: { ...dlx, ...quorum, ...pair, 'x-delivery-limit': 20 }, notes: [] });
    expect(converted({ ...dlx, 'x-message-ttl': 5 }).args).toMatchObject({ 'x-message-ttl': 5, ...pair });
  });

  it('rule D2: without an effective delivery limit where it has no dead-letter exchange, for it would drop messages', () => {
    expect(converted({})).toEqual({ args: unlimited, notes: [] });
  });

  it('with the pair also when a policy names its dead-letter exchange', () => {
    const policies = [
      { name: 'p', vhost, pattern: '^q', definition: { 'dead-letter-exchange': 'dlx' }, 'apply-to': 'queues' },
    ];
    expect(converted({}, {}, { policies }).args).toEqual({ ...quorum, ...pair, 'x-delivery-limit': 20 });
    const elsewhere = [
      { ...policies[0], vhost: 'other' },
      { ...policies[0], 'apply-to': 'exchanges' },
    ];
    expect(converted({}, {}, { policies: elsewhere }).args).toEqual(unlimited);
  });

  it('without what quorum queues refuse', () => {
    const refused = { 'x-max-priority': 5, 'x-queue-mode': 'lazy', 'x-queue-version': 2 };
    const { args, notes } = converted({ ...refused, mine: 1 });
    expect(args).toEqual({ mine: 1, ...unlimited });
    expect(notes).toEqual(Object.keys(refused).map((name) => `queue 'q' in vhost '/' loses ${name}`));
  });

  it('and goes on dropping its oldest message, but dead-letters at most once then', () => {
    const { args, notes } = converted({ ...dlx, 'x-max-length': 9 });
    expect(args).toEqual({ ...dlx, 'x-max-length': 9, ...quorum, 'x-delivery-limit': 20 });
    expect(notes[0]).toContain('dead-letters at most once');
    expect(converted({ ...dlx, 'x-max-length': 9, 'x-overflow': 'reject-publish' }).args).toMatchObject(pair);
  });

  it('rule D7: and refuses where reject-publish-dlx would drop the oldest message', () => {
    const { args, notes } = converted({ ...dlx, 'x-max-length': 9, 'x-overflow': 'reject-publish-dlx' });
    expect(args).toMatchObject(pair);
    expect(notes[0]).toContain('no longer dead-letters what it refuses');
  });

  it('and a policy that forbids the pair is named', () => {
    const policies = [{ name: 'p', vhost, pattern: '.*', priority: 1, definition: { overflow: 'drop-head' } }];
    expect(converted(dlx, {}, { policies }).notes).toEqual([
      "queue 'q' in vhost '/' dead-letters at most once: a policy sets its overflow to drop-head",
    ]);
  });

  it.each<[string, object, object]>([
    ['deleted with its last consumer', {}, { auto_delete: true }],
    ['not durable', {}, { durable: false }],
    ['exclusive', {}, { exclusive: true }],
    ['x-expires', { 'x-expires': 60_000 }, {}],
  ])('but not one that is %s', (why, args, more) => {
    const { args: kept, notes } = converted(args, more);
    expect(kept).toEqual(args);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(new RegExp(`stays classic: .*${why}`));
  });

  it('if its name fits, and it is none yet', () => {
    const queues = [queue('one'), queue('two'), queue('three', { 'x-queue-type': 'quorum', 'x-delivery-limit': 3 })];
    const { definitions } = convert({ queues }, { isQuorum: (name) => name.startsWith('t'), deliveryLimit: 7 });
    expect(definitions['queues']).toEqual([queues[0], queue('two', unlimited), queues[2]]);
  });
});
