import { overflowPolicies, type Queue, queueArguments, type VirtualHost } from '../../../engine/broker/index.js';
import type { DeathReason } from '../../../engine/message/index.js';
import { inTurns, type Turns } from '../../http/turns.js';
import { BindingIndex, type Keys, keysInto, oneKey } from './binding-index.js';
import { type DeadLetterEdge, type DeadLetterEdges, type Loop, loopsIn, strongComponents, targetsOf } from './loops.js';
import { type Certainty, nowhere, Reach, type Reached } from './reach.js';

/** Undefined for a queue without a dead-letter exchange. Yields wherever it may pause. */
function* deadLetterEdgeOf(queue: Queue, reach: Reach): Generator<void, DeadLetterEdge | undefined, void> {
  const { deadLetterExchange: exchange, deadLetterRoutingKey: routingKey, messageTtl } = queue.settings;
  if (exchange === undefined) return undefined;
  const keys = routingKey === undefined ? keysInto(queue, reach.bindingIndex) : [oneKey(routingKey)];
  return {
    queue,
    exchange,
    routingKey,
    by: queue.declared.arguments.get('x-dead-letter-exchange')?.type === 'S' ? 'argument' : 'policy',
    exchangeExists: reach.bindingIndex.vhost.exchanges.has(exchange),
    reaches: yield* reachedWith(keys, exchange, reach),
    automatic: automaticDeaths(queue),
    delay: messageTtl,
  };
}

/** The queues that messages with any of the keys reach. A queue is reached always only if it is so with each of the keys. */
function* reachedWith(keys: readonly Keys[], exchange: string, reach: Reach): Generator<void, Reached, void> {
  const byKeys: Reached[] = [];
  for (const each of keys) {
    byKeys.push((yield* reach.from(exchange, each)) ?? nowhere);
    yield;
  }
  const [first = nowhere] = byKeys;
  if (byKeys.every((each) => each === first)) return first;
  /** With how many of the keys a queue is reached always. */
  const always = new Map<Queue, number>();
  for (const each of byKeys) {
    for (const [queue, certainty] of each) {
      always.set(queue, (always.get(queue) ?? 0) + (certainty === 'always' ? 1 : 0));
      yield;
    }
  }
  const reached = new Map<Queue, Certainty>();
  for (const [queue, count] of always) reached.set(queue, count === keys.length ? 'always' : 'sometimes');
  return reached;
}

function automaticDeaths({ settings }: Queue): readonly DeathReason[] {
  const deaths = new Set<DeathReason>();
  for (const { kills, setting } of queueArguments) {
    if (kills !== undefined && setting !== undefined && settings[setting] !== undefined) deaths.add(kills);
  }
  const { refuses, deadLettersRefused } = overflowPolicies[settings.overflow];
  if (refuses && !deadLettersRefused) deaths.delete('maxlen');
  return [...deaths];
}

/** The ways of dead letters in a virtual host, as they were when the graph was made. */
export interface DeadLetterGraph {
  /** All queues, sorted by name. */
  readonly queues: readonly Queue[];
  readonly bindings: BindingIndex;
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
  const bindings = yield* BindingIndex.of(vhost);
  const edges = yield* edgesOf(all, bindings);
  const components = yield* strongComponents(edges.keys(), (queue) => targetsOf(queue, edges));
  const loops = yield* loopsIn(edges, components);
  const { targets, returns } = yield* reachedBy(edges, components);
  const named = all.map((queue) => [queue.name, queue] as const);
  const queues = named.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, queue]) => queue);
  return { queues, bindings, edges, loops, targets, returns };
}

/** The dead-letter edges of some queues. Yields after each. */
function* edgesOf(queues: readonly Queue[], bindingIndex: BindingIndex): Generator<void, DeadLetterEdges, void> {
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

/** Something that was made of a topology, and the version of the topology when the making began. */
interface Versioned<T> {
  readonly version: number;
  readonly value: T;
}

/**
 * The graph of each virtual host. A graph is made when it is asked for, and again only after a change of the topology or of the
 * policies. Requests at the same time share the work.
 */
export class DeadLetterGraphs {
  readonly #known = new WeakMap<VirtualHost, Versioned<DeadLetterGraph>>();
  readonly #making = new WeakMap<VirtualHost, Promise<void>>();

  constructor(readonly turns: Turns) {}

  /** The graph of the present topology. A change while the graph is made may be in it or not; the next call shows the change. */
  async of(vhost: VirtualHost): Promise<DeadLetterGraph> {
    const { topologyVersion: asked } = vhost;
    for (;;) {
      const known = this.#known.get(vhost);
      if (known !== undefined && known.version >= asked) return known.value;
      await (this.#making.get(vhost) ?? this.#make(vhost));
    }
  }

  #make(vhost: VirtualHost): Promise<void> {
    const { topologyVersion: version } = vhost;
    const made = inTurns(deadLetterGraphOf(vhost), this.turns)
      .then((value) => void this.#known.set(vhost, { version, value }))
      .finally(() => this.#making.delete(vhost));
    this.#making.set(vhost, made);
    return made;
  }
}
