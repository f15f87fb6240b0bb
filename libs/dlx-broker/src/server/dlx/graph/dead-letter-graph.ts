import type { Queue, VirtualHost } from '../../../engine/broker/index.js';
import { type DeadLetterEdge, deadLetterEdgeOf } from './dead-letter-edges.js';
import { type DeadLetterEdges, type Loop, loopsIn, targetsOf } from './loops.js';
import { Reach } from './reach.js';
import { strongComponents } from './strong-components.js';
import { BindingIndex } from './binding-index.js';

/** The ways of dead letters in a virtual host, as they were when the graph was made. */
export interface DeadLetterGraph {
  /** All queues, sorted by name. */
  readonly queues: readonly Queue[];
  readonly edges: DeadLetterEdges;
  readonly loops: readonly Loop[];
  /** The queues that a dead-letter edge reaches, except the queues of {@link returns}. */
  readonly targets: ReadonlySet<Queue>;
  /**
   * The queues that only the last step of a retry loop reaches: the wait queue sends expired messages back to them. All queues, if
   * there is a wait queue whose messages name their queues themselves.
   */
  readonly returns: ReadonlySet<Queue>;
}

/** Yields wherever it may pause. */
export function* deadLetterGraphOf(vhost: VirtualHost): Generator<void, DeadLetterGraph, void> {
  const all = [...vhost.queues.values()];
  const edges = yield* edgesOf(all, yield* BindingIndex.of(vhost));
  const components = yield* strongComponents(edges.keys(), (queue) => targetsOf(queue, edges));
  const loops = yield* loopsIn(edges, components);
  const { targets, returns } = yield* reachedBy(edges, components);
  const queues = all.sort(({ name: one }, { name: other }) => (one < other ? -1 : 1));
  return { queues, edges, loops, targets, returns };
}

/** The dead-letter edges of some queues. Yields after each. */
export function* edgesOf(queues: readonly Queue[], bindingIndex: BindingIndex): Generator<void, DeadLetterEdges, void> {
  const reach = new Reach(bindingIndex);
  const edges = new Map<Queue, DeadLetterEdge>();
  for (const queue of queues) {
    const edge = yield* deadLetterEdgeOf(queue, reach);
    if (edge !== undefined) edges.set(queue, edge);
    yield;
  }
  return edges;
}

/** Messages with a queue's name as their key. */
const defaultExchange = '';

/**
 * A step of a loop from a queue with a time to live returns messages after their wait. Any other step brings dead letters. The
 * queue to which messages return holds work, although each returning message is a dead letter of the wait queue.
 */
function* reachedBy(
  edges: DeadLetterEdges,
  components: readonly ReadonlySet<Queue>[],
): Generator<void, { targets: ReadonlySet<Queue>; returns: ReadonlySet<Queue> }, void> {
  const componentOf = new Map<Queue, ReadonlySet<Queue>>();
  for (const component of components) for (const queue of component) componentOf.set(queue, component);
  const targets = new Set<Queue>();
  const returns = new Set<Queue>();
  const counted = new Set<unknown>();
  for (const [queue, { reaches, delay, exchange, routingKey }] of edges) {
    // Each message names its queue itself, and none is known: that is how wait queues of retries return messages.
    if (exchange === defaultExchange && routingKey === undefined) {
      if (delay === undefined || counted.has(reaches)) continue;
      counted.add(reaches);
      for (const reached of reaches.keys()) returns.add(reached);
      yield;
      continue;
    }
    const component = delay === undefined ? undefined : componentOf.get(queue);
    // Many queues share what they reach.
    if (component === undefined && counted.has(reaches)) continue;
    if (component === undefined) counted.add(reaches);
    for (const reached of reaches.keys()) (component?.has(reached) === true ? returns : targets).add(reached);
    yield;
  }
  for (const queue of targets) returns.delete(queue);
  return { targets, returns };
}
