import type { Exchange, Queue } from '../../../engine/broker/index.js';
import { badRequest, notFound } from '../../http/reply.js';
import { numberIn } from '../input.js';
import type { DeadLetterEdge } from './dead-letter-edges.js';
import type { Topology } from './topology.js';

/** The part of a topology that a request asks for. */
interface AskedPart {
  /** The queue around which the part is; undefined: none. */
  readonly queue: string | undefined;
  /** The most queues and exchanges of the answer. */
  readonly most: number;
}

/** The parameters of {@link partIn}. */
export const partParameters = ['vhost', 'queue', 'most'];

/** @throws Problem 400 */
export function partIn(query: URLSearchParams): AskedPart {
  const queue = query.get('queue') ?? undefined;
  if (queue !== undefined && !query.has('vhost')) throw badRequest("'queue' needs the 'vhost' in which it is");
  return { queue, most: numberIn(query, 'most', Number.MAX_SAFE_INTEGER, 2, 100_000) };
}

/** A part of a topology, and whether it is all of it. */
export interface TopologyPart {
  readonly topology: Topology;
  readonly complete: boolean;
  /** The number of queues of the whole topology. */
  readonly queues: number;
}

/**
 * The part around a queue, if one is asked for: the queues from which dead letters come to it in any number of steps, and to which its
 * own go. Otherwise everything, if that is not too much, and else the queues of loops. Yields wherever it may pause.
 * @throws Problem 404 for a queue that does not exist
 */
export function* partOf(topology: Topology, { queue, most }: AskedPart): Generator<void, TopologyPart, void> {
  const { queues, bindings } = topology;
  const about = { queues: queues.length };
  // Half of the places are for the exchanges on the way.
  const mostQueues = Math.ceil(most / 2);
  if (queue !== undefined) {
    const first = queues.find(({ name }) => name === queue);
    if (first === undefined) throw notFound();
    const kept = yield* around(first, topology.edges, mostQueues);
    return { topology: yield* only(topology, kept, most), complete: kept.size === queues.length, ...about };
  }
  const drawn = new Set<unknown>(queues);
  for (const { exchange } of bindings) drawn.add(exchange);
  if (drawn.size <= most) return { topology, complete: true, ...about };
  const kept = new Set<Queue>();
  for (const { edges } of topology.loops) {
    if (edges.some(isByOwnKey)) continue;
    if (kept.size + edges.length <= mostQueues) for (const edge of edges) kept.add(edge.queue);
    yield;
  }
  return { topology: yield* only(topology, kept, most), complete: false, ...about };
}

/** A message goes back to the queue that its own key names, which may be any queue: that is no neighbourhood. */
const isByOwnKey = ({ exchange, routingKey }: DeadLetterEdge): boolean => exchange === '' && routingKey === undefined;

function* around(queue: Queue, edges: readonly DeadLetterEdge[], most: number): Generator<void, Set<Queue>, void> {
  const outOf = new Map<Queue, readonly Queue[]>();
  const into = new Map<Queue, Queue[]>();
  for (const edge of edges) {
    const reached = isByOwnKey(edge) ? [] : [...edge.reaches.keys()];
    outOf.set(edge.queue, reached);
    for (const target of reached) {
      const sources = into.get(target);
      if (sources === undefined) into.set(target, [edge.queue]);
      else sources.push(edge.queue);
    }
    yield;
  }
  const kept = new Set([queue]);
  for (const next of [outOf, into]) {
    const seen = new Set([queue]);
    // A set is visited in order, with what is added meanwhile.
    for (const each of seen) {
      for (const other of next.get(each) ?? []) {
        if (kept.size >= most) break;
        seen.add(other);
        kept.add(other);
      }
      yield;
    }
  }
  return kept;
}

/** The topology of some queues: their edges, the bindings to them, and the exchanges on these ways. */
function* only(whole: Topology, kept: ReadonlySet<Queue>, most: number): Generator<void, Topology, void> {
  const edges: DeadLetterEdge[] = [];
  const exchanges = new Set<string>();
  for (const edge of whole.edges) {
    yield;
    if (!kept.has(edge.queue)) continue;
    exchanges.add(edge.exchange);
    edges.push({ ...edge, reaches: new Map([...edge.reaches].filter(([queue]) => kept.has(queue))) });
  }
  const isKept = (destination: unknown): boolean => kept.has(destination as Queue);
  const toQueues = whole.bindings.filter(({ destination }) => isKept(destination));
  for (const { exchange } of toQueues) exchanges.add(exchange.name);
  for (const { name, alternate } of whole.exchanges) {
    if (alternate !== undefined && exchanges.has(name)) exchanges.add(alternate);
  }
  // Exchanges between two that are shown, and those right before them.
  const between = whole.bindings.filter(
    ({ destination }) => !('consumers' in destination) && exchanges.has((destination as Exchange).name),
  );
  for (const { exchange } of between) if (kept.size + exchanges.size < most) exchanges.add(exchange.name);
  return {
    vhost: whole.vhost,
    exchanges: whole.exchanges.filter(({ name }) => exchanges.has(name)),
    queues: whole.queues.filter((queue) => kept.has(queue)),
    bindings: [...toQueues, ...between.filter(({ exchange }) => exchanges.has(exchange.name))],
    edges,
    loops: whole.loops.filter((loop) => loop.edges.every(({ queue }) => kept.has(queue))),
    dangling: whole.dangling.filter(({ kind, of }) =>
      kind === 'alternate-exchange' ? exchanges.has(of) : edges.some(({ queue }) => queue.name === of),
    ),
  };
}
