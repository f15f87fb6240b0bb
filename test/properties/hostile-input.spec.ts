import { describe, expect, it } from 'vitest';
import { type BackendDelivery } from '../../libs/dlx-broker/src/backends/index.js';
import { policyPatterns } from '../../libs/dlx-broker/src/platform/index.js';
import { AmqpError, Broker, PolicyError, type Queue } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { DlxContext } from '../../libs/dlx-broker/src/nest/core/context.js';
import {
  array,
  deathsOf,
  emptyTable,
  type Field,
  type FieldTable,
  fromFieldTable,
  int32,
  int64,
  longstr,
  Message,
  table,
} from '../../libs/dlx-broker/src/engine/message/index.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { listen, publishText } from '../harnesses/listener.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';

const headersOf = (entries: Readonly<Record<string, Field>>): FieldTable => new Map(Object.entries(entries));
const deadLettered = headersOf({ 'x-dead-letter-exchange': longstr(''), 'x-dead-letter-routing-key': longstr('dead') });
const dangerous = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'x-death ', 'valueOf'];
const mostNegative = -(2n ** 63n);
const mostPositive = 2n ** 63n - 1n;

function arrange(start?: number) {
  const clock = new ManualClock(start);
  // 3.10, which goes on with a history that a client made up (rule W3).
  const broker = new Broker({ rabbitmq: '3.10', clock, names: new CountedNames(), patterns: policyPatterns });
  const channel = () => listen(broker).channel;
  const first = channel();
  first.declareQueue('dead');
  first.declareQueue('work', { arguments: deadLettered });
  const queue = (name: string): Queue => broker.virtualHost('/').queues.get(name) as Queue;
  /** Publishes, dies by rejection, and comes back from the queue for the dead. */
  const dieWith = (headers: FieldTable): FieldTable => {
    const other = channel();
    other.publish('', 'work', { headers }, new Uint8Array());
    other.reject(other.get('work')!.deliveryTag, false);
    return other.get('dead', { noAck: true })!.message.properties.headers ?? emptyTable;
  };
  return { clock, broker, channel, queue, dieWith };
}

/** So many tables or arrays in one another. */
function nested(levels: number, inside: (field: Field) => Field): Field {
  let field: Field = int32(1);
  for (let level = 1; level < levels; level++) field = inside(field);
  return field;
}

const inTables = (field: Field): Field => table(new Map([['deeper', field]]));
const inArrays = (field: Field): Field => array([field]);

/** Every way by which a table gets into the broker. */
const entrances: readonly (readonly [string, (scene: ReturnType<typeof arrange>, table: FieldTable) => unknown])[] = [
  ['a publish', ({ channel }, headers) => channel().publish('', 'work', { headers }, new Uint8Array())],
  ['a publishNow', ({ channel }, headers) => channel().publishNow('', 'work', { headers }, new Uint8Array())],
  ['a queue', ({ channel }, args) => channel().declareQueue('new', { arguments: args })],
  ['a queue declared again', ({ channel }, args) => channel().declareQueue('dead', { arguments: args })],
  ['an exchange', ({ channel }, args) => channel().declareExchange('new', { arguments: args })],
  ['a binding', ({ channel }, args) => channel().bindQueue('work', 'amq.headers', '', args)],
  ['an unbinding', ({ channel }, args) => channel().unbindQueue('work', 'amq.headers', '', args)],
  ['a binding of exchanges', ({ channel }, args) => channel().bindExchange('amq.fanout', 'amq.headers', '', args)],
  ['an unbinding of exchanges', ({ channel }, args) => channel().unbindExchange('amq.fanout', 'amq.topic', '', args)],
  ['a consumer', ({ channel }, args) => channel().consume('work', { arguments: args })],
  [
    'a rejection with headers',
    ({ channel }, headers) => {
      const one = channel();
      publishText(one, '', 'work', 'x');
      one.reject(one.get('work')!.deliveryTag, false, headers);
    },
  ],
];

const refusal = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    return error instanceof AmqpError || error instanceof PolicyError ? error.message : `crashed: ${String(error)}`;
  }
  return 'ok';
};

describe('a table of a stranger', () => {
  it('may use any name, and changes no prototype', () => {
    const { dieWith, channel } = arrange();
    const own = new Map(dangerous.map((name) => [name, table(new Map([[name, longstr(name)]]))]));
    const headers = dieWith(own);
    expect([...headers.keys()]).toEqual(expect.arrayContaining(dangerous));
    const context = fromFieldTable(headers);
    expect(Object.keys(context)).toEqual(expect.arrayContaining(dangerous));
    expect(({} as Record<string, unknown>)['deeper']).toBeUndefined();
    channel().declareQueue('strange', { arguments: own });
    expect(refusal(() => channel().declareQueue('strange', { arguments: new Map([...own].reverse()) }))).toBe('ok');
    for (const name of dangerous) {
      channel().declareQueue(name);
      publishText(channel(), '', name, 'here');
      expect(channel().get(name)?.message.routingKey).toBe(name);
    }
  });

  it.each(entrances)('64 levels deep is fine, deeper is refused in words: %s', (what, enter) => {
    for (const inside of [inTables, inArrays]) {
      expect(refusal(() => enter(arrange(), headersOf({ deep: nested(64, inside) })))).toBe('ok');
      for (const levels of [65, 10_000]) {
        const fault = refusal(() => enter(arrange(), headersOf({ deep: nested(levels, inside) })));
        expect(fault, what).toMatch(/^PRECONDITION_FAILED - .+ 'deep' is nested more than 64 levels deep$/);
      }
    }
    const ring: Field[] = [];
    ring.push(array(ring));
    expect(refusal(() => enter(arrange(), headersOf({ deep: array(ring) })))).toContain('more than 64 levels deep');
  });

  it.each(entrances)('numbers that are none of their type are refused: %s', (what, enter) => {
    for (const value of [NaN, Infinity, -Infinity, 1.5, 2n ** 63n, -(2n ** 63n) - 1n, 1e300]) {
      const fault = refusal(() => enter(arrange(), headersOf({ odd: { type: 'l', value } })));
      expect(fault, what).toBe(refusal(() => enter(arrange(), headersOf({ odd: { type: 'l', value } }))));
      expect(fault).toMatch(/^PRECONDITION_FAILED - .+ 'odd' holds .+, which is no integer of 64 bits$/);
    }
  });

  it('at its deepest is routed, dead-lettered, compared, shown and read', () => {
    const { dieWith, channel } = arrange();
    const deep = headersOf({ deep: nested(64, inTables), 'x-match': longstr('all') });
    channel().bindQueue('work', 'amq.headers', '', deep);
    channel().publish('amq.headers', '', { headers: deep }, new Uint8Array());
    expect(new Map(channel().get('work')?.message.properties.headers)).toEqual(deep); // kept as bytes
    const dead = dieWith(deep);
    expect(deathsOf(dead)).toMatchObject([{ queue: 'work', count: 1 }]);
    const message = new Message('', 'dead', { headers: dead }, new Uint8Array());
    const context = new DlxContext({ message, queue: 'dead' } as BackendDelivery);
    expect(JSON.stringify(context.headers['deep'])).toBe(JSON.stringify(fromFieldTable(deep)['deep']));
    expect(context.deaths).toHaveLength(1);
    channel().declareQueue('deep', { arguments: headersOf({ 'x-queue-mode-': nested(64, inArrays) }) });
    const odd = headersOf({ 'x-max-length': nested(64, inArrays) });
    expect(refusal(() => channel().declareQueue('deep', { arguments: odd }))).toContain('inequivalent arg');
  });

  it('may have a hundred thousand entries; arguments, which are kept as objects, 4096', () => {
    const { dieWith, channel } = arrange();
    const fields = Array.from({ length: 100_000 }, (_, index) => [`h${index}`, int32(index)] as const);
    const [many, most, tooMany] = [100_000, 4_096, 4_097].map((count) => new Map(fields.slice(0, count)));
    channel().bindQueue('work', 'amq.headers', '', most);
    channel().publish('amq.headers', '', { headers: many }, new Uint8Array());
    expect(channel().get('work')?.message.properties.headers?.size).toBe(100_000);
    expect(dieWith(many as FieldTable).size).toBe(100_004);
    channel().unbindQueue('work', 'amq.headers', '', most);
    channel().publish('amq.headers', '', { headers: many }, new Uint8Array());
    expect(channel().get('work')).toBeUndefined();
    const refused = /^PRECONDITION_FAILED - arguments have more than 4096 values/;
    expect(refusal(() => channel().bindQueue('work', 'amq.headers', '', tooMany))).toMatch(refused);
  }, 30_000);
});

describe('numbers at the edge', () => {
  const doubles = [NaN, Infinity, -Infinity, -0, Number.MAX_VALUE, Number.MIN_VALUE];

  it.each(doubles)('the double %s is carried as it is, and equals itself in bindings (rules H4, P8)', (value) => {
    const { dieWith, channel } = arrange();
    const field: Field = { type: 'd', value };
    expect(dieWith(headersOf({ n: field })).get('n')).toBe(field);
    const two = headersOf({ n: field, m: field });
    channel().bindQueue('dead', 'amq.headers', '', two);
    channel().publish('amq.headers', '', { headers: two }, new Uint8Array());
    expect(channel().get('dead')).toBeDefined();
  });

  it.each([mostNegative, mostPositive])('the int64 %s is carried, compared and refused exactly', (value) => {
    const { dieWith, channel } = arrange();
    expect(dieWith(headersOf({ n: int64(value) })).get('n')).toEqual(int64(value));
    channel().bindQueue('dead', 'amq.headers', '', headersOf({ n: int64(value) }));
    channel().publish('amq.headers', '', { headers: headersOf({ n: int64(value) }) }, new Uint8Array());
    channel().publish('amq.headers', '', { headers: headersOf({ n: { type: 'd', value: 5 } }) }, new Uint8Array());
    channel().publish(
      'amq.headers',
      '',
      { headers: headersOf({ n: int64(value < 0 ? value + 1n : value - 1n) }) },
      new Uint8Array(),
    );
    expect(channel().declareQueue('dead').messageCount).toBe(1);
    const ttl = refusal(() =>
      channel().declareQueue('new', { arguments: headersOf({ 'x-message-ttl': int64(value) }) }),
    );
    expect(ttl).toContain(value < 0 ? `{value_negative,${value}}` : `{value_too_large,${value}}`);
    const length = headersOf({ 'x-max-length': int64(value) });
    const made = refusal(() => channel().declareQueue('long', { arguments: length }));
    expect(made).toEqual(value < 0 ? expect.stringContaining(`{value_negative,${value}}`) : 'ok');
    if (value > 0) expect(refusal(() => channel().declareQueue('long', { arguments: length }))).toBe('ok');
  });

  it.each([
    ['the largest', int64(mostPositive), mostNegative],
    ['the smallest', int64(mostNegative), mostNegative + 1n],
    ['the last safe one', int64(Number.MAX_SAFE_INTEGER), 2n ** 53n],
    ['minus one', int64(-1), 0],
    ['the largest byte', { type: 'b', value: 127 } as const, 128],
  ])('a forged count that is %s grows by one, as 64 bits do (rules H6, H9)', (_, count, next) => {
    const { dieWith } = arrange();
    const entry = headersOf({ queue: longstr('work'), reason: longstr('rejected'), count });
    const death = dieWith(headersOf({ 'x-death': array([table(entry)]) })).get('x-death');
    expect(death?.type === 'A' && death.value[0]?.type === 'F' && death.value[0].value.get('count')).toEqual(
      int64(next),
    );
  });

  it.each(doubles)('a forged count of the double %s is no count (rule V5)', (value) => {
    const { dieWith } = arrange();
    const entry = headersOf({ queue: longstr('work'), reason: longstr('rejected'), count: { type: 'd', value } });
    expect(deathsOf(dieWith(headersOf({ 'x-death': array([table(entry)]) })))).toMatchObject([{ count: 1 }]);
  });
});

describe('a clock at zero', () => {
  it('knows never from now: a TTL of 0 is dead at once (rules B8, B10)', () => {
    const { channel, queue } = arrange(0);
    const { clock, ...other } = arrange(0);
    other.channel().declareQueue('now', { arguments: new Map([...deadLettered, ['x-message-ttl', int32(0)]]) });
    publishText(other.channel(), '', 'now', 'by queue');
    publishText(other.channel(), '', 'work', 'by message', { expiration: '0' });
    expect([other.queue('now').length, other.queue('work').length, other.queue('dead').length]).toEqual([0, 0, 2]);
    publishText(channel(), '', 'work', 'later', { expiration: '1' });
    publishText(other.channel(), '', 'work', 'later', { expiration: '1' });
    publishText(other.channel(), '', 'work', 'never');
    clock.advance(1);
    expect(queue('work').length).toBe(1);
    expect(other.queue('work').length).toBe(1);
    expect(other.queue('dead').length).toBe(3);
  });
});

describe('a forged history', () => {
  /** Three queues in a ring; a message comes round by itself. */
  const ring = (reason: 'expired' | 'maxlen', forged: Field): number => {
    const { channel, clock, queue } = arrange();
    const limit = reason === 'expired' ? ['x-message-ttl', int32(1)] : ['x-max-length', int32(0)];
    const to = (key: string) =>
      new Map<string, Field>([
        ['x-dead-letter-exchange', longstr('')],
        ['x-dead-letter-routing-key', longstr(key)],
        limit as [string, Field],
      ]);
    channel().declareQueue('a', { arguments: to('b') });
    channel().declareQueue('b');
    channel().publish('', 'a', { headers: headersOf({ 'x-death': forged }) }, new Uint8Array());
    clock.advance(1);
    return queue('b').length;
  };
  const entry = (queue: string, reason: string): Field =>
    table(headersOf({ queue: longstr(queue), reason: longstr(reason) }));

  it.each(['expired', 'maxlen'] as const)(
    'cuts or keeps what dies as %s as if it were true (rules I1, I2, I6)',
    (reason) => {
      expect(ring(reason, array([])), 'no history').toBe(1);
      expect(ring(reason, array([entry('b', 'expired')])), 'was there, never rejected').toBe(0);
      expect(ring(reason, array([entry('b', 'maxlen'), entry('x', 'rejected')])), 'rejected before').toBe(0);
      expect(ring(reason, array([entry('x', 'rejected'), entry('b', 'expired')])), 'rejected since').toBe(1);
      expect(ring(reason, array([entry('c', 'expired')])), 'was elsewhere').toBe(1);
      expect(ring(reason, longstr('b')), 'no list').toBe(1);
    },
  );

  it('of a hundred thousand entries neither cuts wrongly nor takes long (rules H10, I6)', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => entry(`q${index % 50_000}`, 'expired'));
    expect(ring('expired', array(many))).toBe(1);
    expect(ring('expired', array([...many, entry('b', 'expired')]))).toBe(0);
  });
});

describe('a policy of a stranger', () => {
  const set = (definition: unknown, more: object = {}): string => {
    const { broker } = arrange();
    return refusal(() => broker.virtualHost('/').setPolicy('p', { pattern: '^work$', definition, ...more }));
  };

  it('with dangerous keys is refused and named (rule F13)', () => {
    for (const key of dangerous) {
      const definition: unknown = JSON.parse(`{${JSON.stringify(key)}: {"max-length": 1}}`);
      const told = `[{<<"${key}">>,#{<<"max-length">> => 1}}] are not recognised policy settings`;
      expect(set(definition)).toContain(told);
      expect(set(new Map([[key, 1]]))).toContain('are not recognised policy settings');
    }
  });

  it('nested without end is refused in words', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    const ring: unknown[] = [];
    ring.push(ring);
    for (const value of [deep, ring]) {
      expect(set({ 'max-length': value })).toContain('is nested more than 64 levels deep');
      expect(set({ 'ha-params': value })).toContain('is nested more than 64 levels deep');
      expect(set({ unknown: value })).toContain('are not recognised policy settings');
      expect(set({ 'max-length': 1 }, { priority: value })).toContain('priority should be a number');
      expect(set({ 'max-length': 1 }, { pattern: value })).toContain('pattern should be a binary');
    }
  });

  it('with impossible numbers is refused, and the largest are no danger', () => {
    for (const value of [NaN, Infinity, -1, 1.5, '1', null]) expect(set({ 'message-ttl': value })).not.toBe('ok');
    const { broker, channel, clock, queue } = arrange();
    broker.virtualHost('/').setPolicy('p', {
      pattern: '^work$',
      definition: { 'message-ttl': Number.MAX_VALUE, expires: Number.MAX_VALUE, 'max-length': Number.MAX_VALUE },
    });
    publishText(channel(), '', 'work', 'x');
    clock.advance(1_000_000_000);
    expect(queue('work').length).toBe(1);
  });

  it('with a pattern that backtracks for ever is cut after so many steps, and counts as no match', () => {
    const { broker, channel } = arrange();
    const name = `${'a'.repeat(250)}!`;
    const definition = { 'max-length': 0 };
    channel().declareQueue(name);
    broker.virtualHost('/').setPolicy('hopeless', { pattern: '^(a+)+$', definition, priority: 9 });
    broker.virtualHost('/').setPolicy('plain', { pattern: '^a+!$', definition });
    expect(broker.virtualHost('/').queues.get(name)?.inForce?.policy?.name).toBe('plain');
  });
});

describe('a name', () => {
  const long = 'é'.repeat(128);
  it('of more than 255 bytes is refused, saying whose it is', () => {
    const { channel } = arrange();
    const told = (what: string) =>
      `PRECONDITION_FAILED - ${what} '${long.slice(0, 32)}...' is 256 bytes long, more than 255`;
    expect(refusal(() => channel().declareQueue(long))).toBe(told('queue name'));
    expect(refusal(() => channel().declareExchange(long))).toBe(told('exchange name'));
    expect(refusal(() => channel().bindQueue('work', 'amq.topic', long))).toBe(told('binding key'));
    expect(refusal(() => channel().publish('', long, {}, new Uint8Array()))).toBe(told('routing key'));
    expect(refusal(() => channel().consume('work', { consumerTag: long }))).toBe(told('consumer tag'));
    expect(refusal(() => channel().publish('', '😀'.repeat(64), {}, new Uint8Array()))).toContain('is 256 bytes long');
    expect(refusal(() => channel().publish('', '😀'.repeat(63) + 'abc', {}, new Uint8Array()))).toBe('ok');
    expect(refusal(() => channel().publish('', '\u20ac'.repeat(85), {}, new Uint8Array()))).toBe('ok');
  });

  it('and binding arguments are never taken for one another', () => {
    const { channel, queue } = arrange();
    const plain = 'k\u0000{"a":I"1"}';
    channel().bindQueue('work', 'amq.direct', plain);
    channel().bindQueue('work', 'amq.direct', 'k', headersOf({ a: int32(1) }));
    channel().unbindQueue('work', 'amq.direct', plain);
    channel().publish('amq.direct', 'k', {}, new Uint8Array());
    expect(queue('work').length).toBe(1);
  });
});
