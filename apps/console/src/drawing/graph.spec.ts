import { describe, expect, it } from 'vitest';
import type { DeadLetterEdge, Topology, TopologyBinding, TopologyLoop } from '../api/topology';
import { deadQueues, graphOf, shownLoops } from './graph';
import { partOf } from '../pages/topology/part';

const vhost = '/';
const queue = (name: string) => ({
  vhost,
  name,
  type: 'classic',
  messages_ready: 0,
  messages_unacknowledged: 0,
  consumers: 0,
  dead_letters_in: 0,
});
const exchange = (name: string, alternate: string | null = null) => ({
  vhost,
  name,
  type: 'direct',
  alternate_exchange: alternate,
});
const binding = (source: string, destination: string, key = destination): TopologyBinding => ({
  vhost,
  source,
  destination,
  destination_type: 'queue',
  routing_key: key,
});
const dead = (from: string, to: string, reaches: string[], more: Partial<DeadLetterEdge> = {}): DeadLetterEdge => ({
  vhost,
  queue: from,
  exchange: to,
  routing_key: 'key',
  exchange_exists: true,
  reaches: reaches.map((name) => ({ queue: name, certain: true })),
  automatic: [],
  delay: null,
  ...more,
});
const loop = (queues: string[], exchanges: string[], more: Partial<TopologyLoop> = {}): TopologyLoop => ({
  vhost,
  queues,
  exchanges,
  kind: 'retry',
  certain: true,
  delay: 5_000,
  ...more,
});

/** A work queue with a wait queue, and a queue that drops its dead letters because the exchange is missing. */
const shop: Topology = {
  exchanges: [exchange(''), exchange('work', 'spare'), exchange('dlx'), exchange('unused')],
  queues: [queue('orders'), queue('orders.wait'), queue('images'), queue('alone')],
  bindings: [binding('work', 'orders', 'a'), binding('work', 'orders', 'b'), binding('dlx', 'orders.wait')],
  dead_letter_edges: [
    dead('orders', 'dlx', ['orders.wait']),
    dead('orders.wait', '', ['orders'], { automatic: ['expired'], delay: 5_000 }),
    dead('images', 'gone', [], { exchange_exists: false, automatic: ['maxlen'] }),
  ],
  loops: [loop(['orders', 'orders.wait'], ['dlx', ''])],
  dangling: [{ vhost, kind: 'dead-letter-exchange', of: 'images', exchange: 'gone' }],
};
const all = { bindings: true, dead: true, alternate: true };
const lines = (topology: Topology, shown = all): string[] =>
  graphOf(topology, shown).edges.map(
    ({ from, to, kind, label, loop: of }) => `${from} ${kind}${of ? ` ${of}` : ''} ${to}${label ? `: ${label}` : ''}`,
  );

describe('graph of a topology', () => {
  it('has bindings, dead-letter edges, alternate exchanges, and the steps of loops', () => {
    expect(lines(shop)).toEqual([
      'x:work binding q:orders: a, b',
      'x:dlx binding retry q:orders.wait: orders.wait',
      'q:orders dead retry x:dlx: rejected',
      'q:orders.wait dead retry q:orders: expired after 5 s',
      'q:images dead m:gone: rejected, maxlen',
      'x:work alternate m:spare: unroutable',
    ]);
  });

  it('a consumed queue with a time to live also has the letters that its consumer rejects', () => {
    const invoices = { ...queue('invoices'), consumers: 1 };
    const edge = dead('invoices', 'dlx', [], { automatic: ['expired'], delay: 3_600_000 });
    const topology = { ...shop, queues: [invoices], bindings: [], dead_letter_edges: [edge], loops: [] };
    expect(lines(topology, { ...all, alternate: false })).toEqual([
      'q:invoices dead x:dlx: rejected, expired after 1 h',
    ]);
  });

  it('leaves out exchanges without an edge, and lists queues without one', () => {
    const { nodes, lonely } = graphOf(shop, all);
    expect(nodes.map(({ id }) => id)).toEqual([
      'x:work',
      'x:dlx',
      'q:orders',
      'q:orders.wait',
      'q:images',
      'm:gone',
      'm:spare',
    ]);
    expect(lonely).toEqual(['alone']);
  });

  it('draws the whole way of dead letters when bindings are not shown', () => {
    expect(lines(shop, { ...all, bindings: false, alternate: false })).toEqual([
      'q:orders dead retry x:dlx: rejected',
      'x:dlx dead retry q:orders.wait',
      'q:orders.wait dead retry q:orders: expired after 5 s',
      'q:images dead m:gone: rejected, maxlen',
    ]);
    expect(lines(shop, { bindings: false, dead: false, alternate: false })).toEqual([]);
  });

  it('draws a queue that returns messages to wherever they came from as one edge', () => {
    const own = dead('wait', '', [], {
      routing_key: null,
      automatic: ['expired'],
      delay: 1_000,
      reaches: [
        { queue: 'orders', certain: false },
        { queue: 'wait', certain: false },
      ],
    });
    const topology: Topology = {
      ...shop,
      queues: [...shop.queues, queue('wait')],
      dead_letter_edges: [own],
      loops: [loop(['wait'], [''], { certain: false, kind: 'dropped' })],
    };
    expect(lines(topology, { ...all, bindings: false, alternate: false })).toEqual([
      'q:wait dead any: expired after 1 s',
    ]);
  });

  it('gives an edge of two loops the kind of the worse one', () => {
    const topology = {
      ...shop,
      loops: [...shop.loops, loop(['orders', 'orders.wait'], ['dlx', ''], { kind: 'spin' })],
    };
    expect(lines(topology).filter((line) => line.includes('spin'))).toHaveLength(3);
  });

  it('shows a loop with a wait as a retry if only length limits make it go round by itself', () => {
    const kinds = (automatic: string[], delay = 5_000): string[] => {
      const [first, ...others] = shop.dead_letter_edges;
      const edges = [{ ...(first as DeadLetterEdge), automatic }, ...others];
      const loops = [loop(['orders', 'orders.wait'], ['dlx', ''], { kind: 'dropped', delay })];
      return shownLoops({ ...shop, dead_letter_edges: edges, loops }).map(({ kind }) => kind);
    };
    expect(kinds(['maxlen'])).toEqual(['retry']);
    expect(kinds(['maxlen'], 0)).toEqual(['dropped']);
    expect(kinds(['delivery_limit'])).toEqual(['dropped']);
  });

  it('knows the queues that dead letters reach to stay', () => {
    const topology = { ...shop, dead_letter_edges: [...shop.dead_letter_edges, dead('images', '', ['alone'])] };
    expect([...deadQueues(topology)]).toEqual(['orders.wait', 'alone']);
  });

  it('leaves out edges to queues that the answer does not have', () => {
    expect(lines({ ...shop, queues: [] })).toEqual(['x:work alternate m:spare: unroutable']);
  });
});

describe('part of a topology', () => {
  const many: Topology = {
    ...shop,
    queues: [...shop.queues, ...Array.from({ length: 500 }, (_, index) => queue(`t${index}`))],
    bindings: [...shop.bindings, ...Array.from({ length: 500 }, (_, index) => binding('work', `t${index}`))],
    dead_letter_edges: [
      ...shop.dead_letter_edges,
      ...Array.from({ length: 500 }, (_, index) => dead(`t${index}`, 'dlx', ['orders.wait'])),
    ],
  };
  const names = ({ queues }: Topology): string[] => queues.map(({ name }) => name);

  it('is everything while that is little', () => {
    expect(partOf(shop, '')).toEqual({ topology: shop, kind: 'all', hidden: 0 });
  });

  it('is the loops of a large topology', () => {
    const { topology, kind, hidden } = partOf(many, '');
    expect({ kind, hidden, names: names(topology) }).toEqual({
      kind: 'loops',
      hidden: 502,
      names: ['orders', 'orders.wait'],
    });
    expect(topology.bindings).toEqual(shop.bindings);
    expect(topology.exchanges.map(({ name }) => name)).toEqual(['', 'work', 'dlx']);
  });

  it('calls no exchange missing that exists', () => {
    const topology = { ...many, exchanges: [...many.exchanges, exchange('spare')] };
    const { nodes } = graphOf(partOf(topology, '').topology, all);
    expect(nodes.filter(({ kind }) => kind === 'missing')).toEqual([]);
    expect(nodes.map(({ id }) => id)).toContain('x:spare');
  });

  it('is what dead letters come from and go to, around a queue', () => {
    expect(names(partOf(many, 'images').topology)).toEqual(['images']);
    expect(partOf(many, 'images').topology.dangling).toEqual(shop.dangling);
    expect(names(partOf(many, 't7').topology)).toEqual(['orders', 'orders.wait', 't7']);
    const around = partOf(many, 'orders.wait');
    expect(around.topology.queues).toHaveLength(60);
    expect(around.hidden).toBe(444);
  });
});
