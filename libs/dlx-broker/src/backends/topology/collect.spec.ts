import { describe, expect, it } from 'vitest';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { collectTopology } from './collect.js';
import { fieldTableOf } from './declared-parts.js';
import { describeTopology, type ExchangeDeclaration, type QueueDeclaration } from './topology.js';

const queue = (name: string, args: Record<string, unknown> = {}, origin = 'A.b'): QueueDeclaration => ({
  name,
  durable: true,
  exclusive: false,
  autoDelete: false,
  arguments: fieldTableOf(args, origin),
  origin,
});

const exchange = (name: string, type = 'topic', origin = 'A.b'): ExchangeDeclaration => ({
  name,
  type,
  durable: true,
  autoDelete: false,
  internal: false,
  arguments: new Map(),
  origin,
});

const binding = (source: string, destination: string, routingKey = '#') =>
  ({ source, destination, destinationType: 'queue', routingKey, arguments: new Map() }) as const;

describe('declarations are put together:', () => {
  it('the same thing twice is one', () => {
    const part = { queues: [queue('q')], exchanges: [exchange('x')], bindings: [binding('x', 'q')] };
    const { queues, exchanges, bindings } = collectTopology({ parts: [part, part] });
    expect([queues.length, exchanges.length, bindings.length]).toEqual([1, 1, 1]);
  });

  it('arguments of one queue are united', () => {
    const parts = [{ queues: [queue('q', { 'x-max-length': 5 })] }, { queues: [queue('q', { 'x-message-ttl': 9 })] }];
    expect([...collectTopology({ parts }).queues[0]!.arguments.keys()]).toEqual(['x-max-length', 'x-message-ttl']);
  });

  it('a contradiction is refused with both origins and values', () => {
    const parts = [
      { queues: [queue('q', { 'x-max-length': 5 }, 'One.a')] },
      { queues: [queue('q', { 'x-max-length': 6 }, 'Two.b')] },
    ];
    expect(() => collectTopology({ parts })).toThrow(DlxConfigurationError);
    expect(() => collectTopology({ parts })).toThrow(
      "queue 'q': two declarations differ in x-max-length: One.a says 5, Two.b says 6",
    );
    const types = [{ exchanges: [exchange('x', 'topic', 'One.a')] }, { exchanges: [exchange('x', 'fanout', 'Two.b')] }];
    expect(() => collectTopology({ parts: types })).toThrow(/differ in type: One.a says topic, Two.b says fanout/);
  });

  it('an exchange that is only mentioned becomes a durable topic exchange, in any order', () => {
    const mentioned = [{ name: 'orders.dlx', origin: 'A.b' }];
    expect(collectTopology({ parts: [], mentioned }).exchanges[0]).toMatchObject({
      name: 'orders.dlx',
      type: 'topic',
      durable: true,
    });
    const declared = collectTopology({ parts: [{ exchanges: [exchange('orders.dlx', 'fanout')] }], mentioned });
    expect(declared.exchanges.map(({ type }) => type)).toEqual(['fanout']);
  });

  it('what exists already, at a broker or by another hand, is left alone', () => {
    const mentioned = ['', 'amq.topic', 'theirs'].map((name) => ({ name, origin: 'A.b' }));
    expect(collectTopology({ parts: [], mentioned, foreign: new Set(['theirs']) }).exchanges).toEqual([]);
  });
});

it('a topology can be read', () => {
  const parts = [
    {
      queues: [queue('q', { 'x-message-ttl': 5000 })],
      exchanges: [exchange('x')],
      bindings: [binding('x', 'q', 'a.*')],
    },
  ];
  expect(describeTopology(collectTopology({ parts }))).toBe(
    [
      'exchanges: 1',
      '  x  topic, durable  (A.b)',
      'queues: 1',
      '  q  durable, x-message-ttl=5000  (A.b)',
      'bindings: 1',
      '  x --a.*--> q',
    ].join('\n'),
  );
});
