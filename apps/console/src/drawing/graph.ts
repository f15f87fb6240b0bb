import type { DeadLetterEdge, LoopKind, Topology, TopologyBinding, TopologyLoop } from '../api/topology';
import { deathsText, keysText } from './labels';

/** `missing`: an exchange that does not exist. `any`: the queue that the routing key of a message names. `consumer`: only in the playground. */
export type NodeKind = 'queue' | 'exchange' | 'missing' | 'any' | 'consumer';

export interface GraphNode {
  readonly id: string;
  readonly kind: NodeKind;
  readonly name: string;
  /** The type of an exchange; empty for others. */
  readonly type: string;
}

export type EdgeKind = 'binding' | 'dead' | 'alternate';

export interface GraphEdge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly kind: EdgeKind;
  readonly label: string;
  /** The loop that the edge is part of. */
  readonly loop: LoopKind | undefined;
  /** False: it depends on the routing key or the headers of a message. */
  readonly certain: boolean;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Queues that no edge touches. */
  readonly lonely: readonly string[];
}

/** Which edges a graph has. */
export interface Shown {
  readonly bindings: boolean;
  readonly dead: boolean;
  readonly alternate: boolean;
}

export const queueId = (name: string): string => `q:${name}`;
export const exchangeId = (name: string): string => `x:${name}`;
export const missingId = (name: string): string => `m:${name}`;
const anyId = 'any';
export const edgeId = (kind: EdgeKind, from: string, to: string): string => JSON.stringify([kind, from, to]);

/** The default exchange sends a message without an own key of the queue wherever the key of the message names a queue. */
export const isByOwnKey = ({ exchange, routing_key: key, reaches }: DeadLetterEdge): boolean =>
  exchange === '' && key === null && !reaches.some(({ certain }) => certain);

/**
 * The loops to show. Loops by the own key of each message are left out: nothing says that a message takes them. A loop that
 * drops messages only where a full queue pushes them out, and that has a wait, is shown as the retry that it usually is.
 */
export function shownLoops({ loops, dead_letter_edges: edges }: Topology): readonly TopologyLoop[] {
  const byQueue = new Map(edges.map((edge) => [edge.queue, edge]));
  const has = (queues: readonly string[], test: (edge: DeadLetterEdge) => boolean): boolean =>
    queues.some((queue) => {
      const edge = byQueue.get(queue);
      return edge !== undefined && test(edge);
    });
  return loops
    .filter(({ queues }) => !has(queues, isByOwnKey))
    .map((loop) => {
      const isByLength = has(loop.queues, ({ automatic }) => automatic.join() === 'maxlen');
      return loop.kind === 'dropped' && loop.delay > 0 && isByLength ? { ...loop, kind: 'retry' } : loop;
    });
}

/**
 * The queues that dead letters reach to stay. A wait queue of a loop only returns messages to the queue in which they died, so
 * this is no way of dead letters.
 */
export function deadQueues({ loops, dead_letter_edges: edges }: Topology): ReadonlySet<string> {
  const mates = new Map<string, Set<string>>();
  for (const { queues } of loops) {
    for (const queue of queues) {
      const known = mates.get(queue) ?? new Set();
      for (const mate of queues) known.add(mate);
      mates.set(queue, known);
    }
  }
  const found = new Set<string>();
  for (const edge of edges) {
    if (isByOwnKey(edge)) continue;
    for (const { queue } of edge.reaches) {
      if (edge.delay === null || mates.get(edge.queue)?.has(queue) !== true) found.add(queue);
    }
  }
  return found;
}

/** How urgent a loop is: an edge of several loops has the colour of the first one. */
const urgency: readonly LoopKind[] = ['spin', 'dropped', 'retry'];

/** The graph of the topology of one virtual host. Exchanges without an edge are left out. */
export function graphOf(topology: Topology, shown: Shown): Graph {
  const edges = new Map<string, GraphEdge>();
  const add = (kind: EdgeKind, from: string, to: string, label: string, certain = true): void => {
    const id = edgeId(kind, from, to);
    if (!edges.has(id)) edges.set(id, { id, from, to, kind, label, loop: undefined, certain });
  };
  const known = new Set(topology.exchanges.map(({ name }) => name));
  const exchangeOf = (name: string): string => (known.has(name) ? exchangeId(name) : missingId(name));

  if (shown.bindings) {
    for (const [same, keys] of together(topology.bindings)) {
      add('binding', exchangeId(same.source), destinationId(same), keysText(keys));
    }
  }
  if (shown.dead) {
    const consumed = new Set(topology.queues.filter(({ consumers }) => consumers > 0).map(({ name }) => name));
    for (const edge of topology.dead_letter_edges) {
      addDead(edge, deathsText(edge, consumed.has(edge.queue)), shown.bindings, exchangeOf, add);
    }
  }
  if (shown.alternate) {
    for (const { name, alternate_exchange: alternate } of topology.exchanges) {
      if (alternate !== null) add('alternate', exchangeId(name), exchangeOf(alternate), 'unroutable');
    }
  }
  if (shown.dead) markLoops(topology, edges);
  return withNodes(topology, [...edges.values()]);
}

function addDead(
  edge: DeadLetterEdge,
  label: string,
  withBindings: boolean,
  exchangeOf: (name: string) => string,
  add: (kind: EdgeKind, from: string, to: string, label: string, certain?: boolean) => void,
): void {
  const from = queueId(edge.queue);
  if (edge.exchange !== '') {
    const exchange = exchangeOf(edge.exchange);
    add('dead', from, exchange, label);
    // The bindings show the rest of the way.
    if (withBindings) return;
    for (const { queue, certain } of edge.reaches) add('dead', exchange, queueId(queue), '', certain);
  } else if (isByOwnKey(edge)) {
    add('dead', from, anyId, label, false);
  } else {
    for (const { queue, certain } of edge.reaches) add('dead', from, queueId(queue), label, certain);
  }
}

const destinationId = ({ destination, destination_type: type }: TopologyBinding): string =>
  type === 'queue' ? queueId(destination) : exchangeId(destination);

/** Bindings between the same two ends, with their routing keys. */
function together(bindings: readonly TopologyBinding[]): Iterable<[TopologyBinding, string[]]> {
  const found = new Map<string, [TopologyBinding, string[]]>();
  for (const binding of bindings) {
    const { source, destination, destination_type: type, routing_key: key } = binding;
    const ends = JSON.stringify([source, type, destination]);
    const same = found.get(ends);
    if (same === undefined) found.set(ends, [binding, [key]]);
    else same[1].push(key);
  }
  return found.values();
}

/** Gives the edges of each loop its kind. A step is one edge, or the edge to the exchange and the one behind it. */
function markLoops(topology: Topology, edges: Map<string, GraphEdge>): void {
  const mark = (kind: EdgeKind, from: string, to: string, loop: LoopKind): void => {
    const id = edgeId(kind, from, to);
    const edge = edges.get(id);
    if (edge === undefined) return;
    if (edge.loop === undefined || urgency.indexOf(loop) < urgency.indexOf(edge.loop)) edges.set(id, { ...edge, loop });
  };
  for (const { queues, exchanges, kind } of shownLoops(topology)) {
    queues.forEach((queue, at) => {
      const next = queueId(queues[(at + 1) % queues.length] ?? queue);
      const exchange = exchangeId(exchanges[at] ?? '');
      mark('dead', queueId(queue), next, kind);
      mark('dead', queueId(queue), exchange, kind);
      mark('dead', exchange, next, kind);
      mark('binding', exchange, next, kind);
    });
  }
}

function withNodes({ queues, exchanges }: Topology, edges: readonly GraphEdge[]): Graph {
  const used = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const nodes: GraphNode[] = [];
  for (const { name, type } of exchanges) {
    if (used.has(exchangeId(name))) nodes.push({ id: exchangeId(name), kind: 'exchange', name, type });
  }
  for (const { name } of queues) {
    if (used.has(queueId(name))) nodes.push({ id: queueId(name), kind: 'queue', name, type: '' });
  }
  const present = new Set(nodes.map(({ id }) => id));
  for (const id of used) {
    if (id === anyId) nodes.push({ id, kind: 'any', name: 'queue named by the key', type: '' });
    else if (id.startsWith('m:')) nodes.push({ id, kind: 'missing', name: id.slice(2), type: '' });
  }
  for (const { id } of nodes) present.add(id);
  return {
    nodes,
    // The answer is written in turns: an edge may name a queue that was deleted in between.
    edges: edges.filter(({ from, to }) => present.has(from) && present.has(to)),
    lonely: queues.map(({ name }) => name).filter((name) => !used.has(queueId(name))),
  };
}
