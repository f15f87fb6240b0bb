import type { Exchange, Queue, VirtualHost } from '../../../engine/broker/index.js';
import { joined, Rows } from '../../http/json.js';
import { badRequest, notFound, ok } from '../../http/reply.js';
import type { Handler, Resource } from '../../http/resource.js';
import { inTurns } from '../../http/turns.js';
import { numberIn, onlyKnown } from '../input.js';
import { typedTable } from '../message-json.js';
import { seenVhosts } from '../named.js';
import type { IndexedBinding } from './binding-index.js';
import type { DeadLetterGraph } from './dead-letter-graph.js';
import type { DeadLetterEdge, Loop } from './loops.js';

/** The exchanges and queues of a virtual host, and the ways of dead letters between them. */
export interface Topology {
  readonly vhost: string;
  readonly exchanges: readonly Exchange[];
  readonly queues: readonly Queue[];
  readonly bindings: readonly IndexedBinding[];
  readonly edges: readonly DeadLetterEdge[];
  readonly loops: readonly Loop[];
  /** References to exchanges that do not exist. */
  readonly dangling: readonly Dangling[];
}

/** A queue whose dead-letter exchange does not exist, or an exchange whose alternate exchange does not. */
interface Dangling {
  readonly kind: 'dead-letter-exchange' | 'alternate-exchange';
  /** The queue, or the exchange, that names the missing exchange. */
  readonly of: string;
  readonly exchange: string;
}

/** The topology of a virtual host and its graph. */
export function topologyOf(vhost: VirtualHost, { bindings: index, edges, loops }: DeadLetterGraph): Topology {
  const exchanges = [...vhost.exchanges.values()];
  const queues = [...vhost.queues.values()];
  const dangling: Dangling[] = [];
  for (const { queue, exchange, exchangeExists } of edges.values()) {
    if (!exchangeExists) dangling.push({ kind: 'dead-letter-exchange', of: queue.name, exchange });
  }
  for (const { name, alternate } of exchanges) {
    if (alternate === undefined || vhost.exchanges.has(alternate)) continue;
    dangling.push({ kind: 'alternate-exchange', of: name, exchange: alternate });
  }
  const bindings = exchanges.flatMap((exchange) => index.from(exchange));
  return { vhost: vhost.name, exchanges, queues, bindings, edges: [...edges.values()], loops, dangling };
}

/** The part of a topology that a request asks for. */
interface AskedPart {
  /** The queue around which the part is; undefined: none. */
  readonly queue: string | undefined;
  /** The most queues and exchanges of the answer. */
  readonly most: number;
}

/** The parameters of {@link partIn}. */
const partParameters = ['vhost', 'queue', 'most'];

/** @throws Problem 400 */
function partIn(query: URLSearchParams): AskedPart {
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

/**
 * A topology as JSON. Every row has its virtual host, because those of several are shown together. A row is made when it is
 * written, and shows the state of that moment.
 */
function topologyToJson(part: TopologyPart): TopologyJson {
  const { vhost, exchanges, queues, bindings, edges, loops, dangling } = part.topology;
  return {
    complete: part.complete,
    total_queues: part.queues,
    exchanges: new Rows(exchanges, (exchange) => exchangeToJson(vhost, exchange)),
    queues: new Rows(queues, (queue) => queueToJson(vhost, queue)),
    bindings: new Rows(bindings, (binding) => bindingToJson(vhost, binding)),
    dead_letter_edges: new Rows(edges, (edge) => edgeToJson(vhost, edge)),
    loops: new Rows(loops, (loop) => loopToJson(vhost, loop)),
    dangling: new Rows(dangling, ({ kind, of, exchange }) => ({ vhost, kind, of, exchange })),
  };
}

export interface TopologyJson {
  /** False if queues were left out. */
  readonly complete: boolean;
  /** The number of all queues. */
  readonly total_queues: number;
  readonly exchanges: Iterable<unknown>;
  readonly queues: Iterable<unknown>;
  readonly bindings: Iterable<unknown>;
  readonly dead_letter_edges: Iterable<unknown>;
  readonly loops: Iterable<unknown>;
  readonly dangling: Iterable<unknown>;
}

const exchangeToJson = (vhost: string, { name, declared, alternate, policy }: Exchange): Record<string, unknown> => ({
  vhost,
  name,
  type: declared.type,
  durable: declared.durable,
  internal: declared.internal,
  alternate_exchange: alternate ?? null,
  policy: policy ?? null,
});

const queueToJson = (vhost: string, queue: Queue): Record<string, unknown> => ({
  vhost,
  name: queue.name,
  type: queue.declared.type,
  durable: queue.declared.durable,
  policy: queue.inForce.policy?.name ?? null,
  operator_policy: queue.inForce.operatorPolicy?.name ?? null,
  messages_ready: queue.length,
  messages_unacknowledged: queue.unacked,
  consumers: queue.consumers.count,
  message_ttl: queue.settings.messageTtl ?? null,
  dead_letters_in: queue.counters.deadLettersIn,
});

const bindingToJson = (
  vhost: string,
  { exchange, destination, bindingKey, arguments: args }: IndexedBinding,
): unknown => ({
  vhost,
  source: exchange.name,
  destination: destination.name,
  destination_type: 'consumers' in destination ? 'queue' : 'exchange',
  routing_key: bindingKey,
  arguments: typedTable(args),
});

export const edgeToJson = (vhost: string, edge: DeadLetterEdge): Record<string, unknown> => ({
  vhost,
  queue: edge.queue.name,
  exchange: edge.exchange,
  routing_key: edge.routingKey ?? null,
  by: edge.by,
  policy: edge.by === 'policy' ? (edge.queue.inForce.policy?.name ?? null) : null,
  strategy: edge.queue.settings.deadLetterStrategy,
  exchange_exists: edge.exchangeExists,
  reaches: [...edge.reaches].map(([queue, certainty]) => ({ queue: queue.name, certain: certainty === 'always' })),
  automatic: edge.automatic,
  delay: edge.delay ?? null,
});

const loopToJson = (vhost: string, { edges, certain, delay, kind }: Loop): Record<string, unknown> => ({
  vhost,
  queues: edges.map(({ queue }) => queue.name),
  exchanges: edges.map(({ exchange }) => exchange),
  kind,
  cut_by_rule_i2: kind === 'dropped',
  certain,
  delay,
});

/** Shows exchanges, queues and the ways of dead letters: of one virtual host, or of all that the user may see. */
const showTopology: Handler = async (request, management) => {
  onlyKnown(request.query.keys(), partParameters, 'parameter');
  const asked = partIn(request.query);
  const { graphs, turns } = management.dlx;
  const all: TopologyJson[] = [];
  for (const vhost of seenVhosts(request, management)) {
    const whole = topologyOf(vhost, await graphs.of(vhost));
    all.push(topologyToJson(await inTurns(partOf(whole, asked), turns, request.signal)));
  }
  return ok(joinedTopologies(all));
};

/** The topologies of several virtual hosts as one. */
const joinedTopologies = (all: readonly TopologyJson[]): TopologyJson => ({
  complete: all.every(({ complete }) => complete),
  total_queues: all.reduce((sum, each) => sum + each.total_queues, 0),
  exchanges: joined(all.map(({ exchanges }) => exchanges)),
  queues: joined(all.map(({ queues }) => queues)),
  bindings: joined(all.map(({ bindings }) => bindings)),
  dead_letter_edges: joined(all.map((each) => each.dead_letter_edges)),
  loops: joined(all.map(({ loops }) => loops)),
  dangling: joined(all.map(({ dangling }) => dangling)),
});

export const topology: readonly Resource[] = [{ path: '/dlx/topology', allows: 'management', GET: showTopology }];
