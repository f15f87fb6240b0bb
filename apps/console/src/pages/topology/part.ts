import { type DeadLetterEdge, mostNodes, type Topology } from '../../api/topology';
import { isByOwnKey, shownLoops } from '../../drawing/graph';

/** What is drawn of a topology: all, the part around a queue, or the loops. */
export interface Part {
  readonly topology: Topology;
  readonly kind: 'all' | 'queue' | 'loops';
  /** Queues of the virtual host that the part leaves out. */
  readonly hidden: number;
}

/** The most queues of a part, so that their exchanges have room. */
const mostQueues = 60;

/** The part around a queue, if one is chosen; else all, if that is not too much; else the loops. */
export function partOf(topology: Topology, queue: string): Part {
  const part = drawnOf(topology, queue);
  const leftOut = (topology.total_queues ?? topology.queues.length) - topology.queues.length;
  if (leftOut === 0) return part;
  return { ...part, kind: queue === '' ? 'loops' : part.kind, hidden: part.hidden + leftOut };
}

function drawnOf(topology: Topology, queue: string): Part {
  const { queues, exchanges, bindings } = topology;
  if (queue !== '') return around(topology, queue);
  const bound = new Set(bindings.flatMap(({ source, destination }) => [source, destination]));
  const drawn = queues.length + exchanges.filter(({ name }) => bound.has(name)).length;
  if (drawn <= mostNodes) return { topology, kind: 'all', hidden: 0 };
  const kept = new Set<string>();
  for (const { queues: loop } of shownLoops(topology)) {
    if (kept.size + loop.length <= mostQueues) for (const name of loop) kept.add(name);
  }
  return only(topology, kept, 'loops');
}

/** The queues from which dead letters come, and to which they go, in any number of steps. */
function around(topology: Topology, queue: string): Part {
  const into = new Map<string, string[]>();
  const outOf = new Map<string, readonly string[]>();
  for (const edge of topology.dead_letter_edges) {
    const reached = reachedBy(edge);
    outOf.set(edge.queue, reached);
    for (const name of reached) {
      const from = into.get(name);
      if (from === undefined) into.set(name, [edge.queue]);
      else from.push(edge.queue);
    }
  }
  const kept = new Set([queue]);
  const follow = (next: ReadonlyMap<string, readonly string[]>): void => {
    const pending = [queue];
    const seen = new Set(pending);
    for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
      for (const other of next.get(name) ?? []) {
        if (seen.has(other) || kept.size >= mostQueues) continue;
        seen.add(other);
        kept.add(other);
        pending.push(other);
      }
    }
  };
  follow(outOf);
  follow(into);
  return only(topology, kept, 'queue');
}

const reachedBy = (edge: DeadLetterEdge): readonly string[] =>
  isByOwnKey(edge) ? [] : edge.reaches.map(({ queue }) => queue);

/** The topology of some queues: their dead-letter edges, the bindings to them, and the exchanges on these ways. */
function only(topology: Topology, kept: ReadonlySet<string>, kind: 'queue' | 'loops'): Part {
  const edges = topology.dead_letter_edges
    .filter(({ queue }) => kept.has(queue))
    .map((edge) =>
      isByOwnKey(edge) ? edge : { ...edge, reaches: edge.reaches.filter(({ queue }) => kept.has(queue)) },
    );
  const toQueues = topology.bindings.filter((each) => each.destination_type === 'queue' && kept.has(each.destination));
  const exchanges = new Set([...toQueues.map(({ source }) => source), ...edges.map(({ exchange }) => exchange)]);
  for (const { name, alternate_exchange: alternate } of topology.exchanges) {
    if (alternate !== null && exchanges.has(name)) exchanges.add(alternate);
  }
  // Exchanges between two that are shown, and those right before them.
  const between = topology.bindings.filter(
    (each) => each.destination_type === 'exchange' && exchanges.has(each.destination),
  );
  for (const { source } of between.slice(0, mostNodes - mostQueues)) exchanges.add(source);
  const bindings = [...toQueues, ...between.filter(({ source }) => exchanges.has(source))];
  return {
    kind,
    hidden: topology.queues.filter(({ name }) => !kept.has(name)).length,
    topology: {
      queues: topology.queues.filter(({ name }) => kept.has(name)),
      exchanges: topology.exchanges.filter(({ name }) => exchanges.has(name)),
      bindings,
      dead_letter_edges: edges,
      loops: topology.loops.filter(({ queues }) => queues.every((name) => kept.has(name))),
      dangling: topology.dangling.filter((each) =>
        each.kind === 'dead-letter-exchange' ? kept.has(each.of) : exchanges.has(each.of),
      ),
    },
  };
}
