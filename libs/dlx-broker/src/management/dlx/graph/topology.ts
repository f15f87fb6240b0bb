import type { Exchange, Queue, VirtualHost } from '../../../broker/index.js';
import { type DeadLetterEdge, deadLetterEdgeOf } from './dead-letter-edges.js';
import { type Loop, loopsIn } from './loops.js';
import { Reach } from './reach.js';
import { type Wire, Wiring } from './wiring.js';

/** How the queues of a virtual host hang together. */
export interface Topology {
  readonly vhost: string;
  readonly exchanges: readonly Exchange[];
  readonly queues: readonly Queue[];
  readonly bindings: readonly Wire[];
  readonly edges: readonly DeadLetterEdge[];
  readonly loops: readonly Loop[];
  /** Exchanges that are named and do not exist. */
  readonly dangling: readonly Dangling[];
}

/** A queue whose dead letters vanish, or an exchange whose alternate does. */
export interface Dangling {
  readonly kind: 'dead-letter-exchange' | 'alternate-exchange';
  /** Who names it. */
  readonly of: string;
  readonly exchange: string;
}

/** Looks at everything, changing nothing; yields wherever it may pause. */
export function* topologyOf(vhost: VirtualHost): Generator<void, Topology, void> {
  const exchanges = [...vhost.exchanges.values()];
  const queues = [...vhost.queues.values()];
  const wiring = yield* Wiring.of(vhost);
  const reach = new Reach(wiring);
  const edges = new Map<Queue, DeadLetterEdge>();
  for (const queue of queues) {
    const edge = deadLetterEdgeOf(queue, reach);
    if (edge !== undefined) edges.set(queue, edge);
    yield;
  }
  const loops = yield* loopsIn(edges);
  const bindings = exchanges.flatMap((exchange) => wiring.from(exchange));
  return { vhost: vhost.name, exchanges, queues, bindings, edges: [...edges.values()], loops, dangling: dangling() };

  function dangling(): readonly Dangling[] {
    const found: Dangling[] = [];
    for (const { queue, exchange, exchangeExists } of edges.values()) {
      if (!exchangeExists) found.push({ kind: 'dead-letter-exchange', of: queue.name, exchange });
    }
    for (const { name, alternate } of exchanges) {
      if (alternate === undefined || vhost.exchanges.has(alternate)) continue;
      found.push({ kind: 'alternate-exchange', of: name, exchange: alternate });
    }
    return found;
  }
}
