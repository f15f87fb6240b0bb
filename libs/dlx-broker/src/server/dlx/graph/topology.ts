import type { Exchange, Queue, VirtualHost } from '../../../engine/broker/index.js';
import type { DeadLetterEdge } from './dead-letter-edges.js';
import { edgesOf } from './dead-letter-graph.js';
import { type Loop, loopsIn, targetsOf } from './loops.js';
import { strongComponents } from './strong-components.js';
import { type IndexedBinding, BindingIndex } from './binding-index.js';

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

/** Reads the topology of a virtual host; yields wherever it may pause. */
export function* topologyOf(vhost: VirtualHost): Generator<void, Topology, void> {
  const exchanges = [...vhost.exchanges.values()];
  const queues = [...vhost.queues.values()];
  const bindingIndex = yield* BindingIndex.of(vhost);
  const edges = yield* edgesOf(queues, bindingIndex);
  const components = yield* strongComponents(edges.keys(), (queue) => targetsOf(queue, edges));
  const loops = yield* loopsIn(edges, components);
  const bindings = exchanges.flatMap((exchange) => bindingIndex.from(exchange));
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
