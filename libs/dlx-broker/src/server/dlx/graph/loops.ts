import type { Queue } from '../../../engine/broker/index.js';
import type { DeathReason } from '../../../engine/message/index.js';
import type { Reached } from './reach.js';

/** The dead-letter exchange of one queue, and the queues behind it. */
export interface DeadLetterEdge {
  readonly queue: Queue;
  readonly exchange: string;
  /** Undefined: each message keeps its own keys. */
  readonly routingKey: string | undefined;
  /** The source of the setting: an argument of the queue, or a policy. */
  readonly by: 'argument' | 'policy';
  /** False: the exchange does not exist, so the dead letters are dropped. */
  readonly exchangeExists: boolean;
  /** The queues that get dead letters of this queue: every one of them (`always`), or some (`sometimes`). */
  readonly reaches: Reached;
  /** The reasons for which messages die here without a rejection: time to live, length limit, delivery limit. */
  readonly automatic: readonly DeathReason[];
  /** Milliseconds until a message expires here, undefined for never. */
  readonly delay: number | undefined;
}

/** Queues that dead-letter into one another until the first is reached again. */
export interface Loop {
  /** The steps in order; the last leads to the first. */
  readonly edges: readonly DeadLetterEdge[];
  /** True if every message takes each step, see {@link DeadLetterEdge.reaches}. */
  readonly certain: boolean;
  /** The least milliseconds that a message waits in one round. */
  readonly delay: number;
  /**
   * - `dropped`: a message can go round without a rejection, because each queue has another reason of death; the broker drops
   *   such a message (rule I2).
   * - `retry`: a consumer has to reject the message in every round, so it can go round for ever; it waits on its way.
   * - `spin`: as `retry`, but without a wait.
   */
  readonly kind: 'retry' | 'spin' | 'dropped';
}

/** The dead-letter edges of a virtual host, by the queue in which a message dies. */
export type DeadLetterEdges = ReadonlyMap<Queue, DeadLetterEdge>;

/** The largest number of loops in an answer. */
const mostLoops = 200;

/**
 * Finds loops: for each step that is part of a loop, the shortest loop with that step. So every queue and step of every loop is
 * shown, without a search through all loops, whose number may be exponential.
 * @param components the sets of queues that can all reach one another
 */
export function* loopsIn(
  edges: DeadLetterEdges,
  components: readonly ReadonlySet<Queue>[],
): Generator<void, readonly Loop[], void> {
  const loops = new Map<string, Loop>();
  for (const component of components) {
    for (const queue of component) {
      for (const next of targetsOf(queue, edges)) {
        if (!component.has(next) || loops.size >= mostLoops) continue;
        const round = canonical(shortestWay(next, queue, component, edges));
        loops.set(JSON.stringify(round.map(({ name }) => name)), loopOf(round, edges));
        yield;
      }
    }
  }
  return [...loops.values()];
}

/** The queues that get dead letters of a queue. */
export function targetsOf(queue: Queue, edges: DeadLetterEdges): Iterable<Queue> {
  return edges.get(queue)?.reaches.keys() ?? [];
}

/** The shortest way from one queue of a component to another, both included. */
function shortestWay(from: Queue, to: Queue, component: ReadonlySet<Queue>, edges: DeadLetterEdges): readonly Queue[] {
  const before = new Map<Queue, Queue | undefined>([[from, undefined]]);
  for (const queue of before.keys()) {
    if (queue === to) break;
    for (const next of targetsOf(queue, edges)) {
      if (component.has(next) && !before.has(next)) before.set(next, queue);
    }
  }
  const way: Queue[] = [];
  for (let queue: Queue | undefined = to; queue !== undefined; queue = before.get(queue)) way.push(queue);
  return way.reverse();
}

/** The same loop, beginning with the queue whose name sorts first. */
function canonical(round: readonly Queue[]): readonly Queue[] {
  const first = round.reduce((best, { name }, index) => (name < (round[best] as Queue).name ? index : best), 0);
  return [...round.slice(first), ...round.slice(0, first)];
}

function loopOf(round: readonly Queue[], edges: DeadLetterEdges): Loop {
  const steps = round.map((queue) => edges.get(queue) as DeadLetterEdge);
  const certain = steps.every(({ reaches }, at) => reaches.get(round[(at + 1) % round.length] as Queue) === 'always');
  const isAutomatic = steps.every(({ automatic }) => automatic.length > 0);
  const delay = steps.reduce((sum, step) => sum + (step.delay ?? 0), 0);
  return { edges: steps, certain, delay, kind: isAutomatic ? 'dropped' : delay > 0 ? 'retry' : 'spin' };
}

/** A directed graph: the successors of a node. */
type Successors<Node> = (node: Node) => Iterable<Node>;

/** A node on the way of the search, and its successors that are not visited yet. */
interface Step<Node> {
  readonly node: Node;
  readonly rest: Iterator<Node>;
}

/**
 * Finds the sets of nodes that can all be reached from one another: Tarjan's strongly connected components, without those of
 * a single node that has no edge to itself. It does not recurse, and yields after each step.
 */
export function* strongComponents<Node>(
  nodes: Iterable<Node>,
  successors: Successors<Node>,
): Generator<void, readonly ReadonlySet<Node>[], void> {
  const components: Set<Node>[] = [];
  const indexes = new Map<Node, number>();
  /** The smallest index that is known to be reachable from a node. */
  const lowest = new Map<Node, number>();
  /** Visited nodes whose component is not complete. */
  const open: Node[] = [];
  const isOpen = new Set<Node>();
  const visit = (node: Node): Step<Node> => {
    indexes.set(node, indexes.size);
    lowest.set(node, indexes.get(node) as number);
    open.push(node);
    isOpen.add(node);
    return { node, rest: successors(node)[Symbol.iterator]() };
  };
  const lower = (node: Node, to: number): void => {
    if (to < (lowest.get(node) as number)) lowest.set(node, to);
  };
  for (const root of nodes) {
    if (indexes.has(root)) continue;
    const way = [visit(root)];
    for (let step = way.at(-1); step !== undefined; step = way.at(-1)) {
      yield;
      const { node } = step;
      const { value: next, done } = step.rest.next();
      if (done !== true) {
        if (!indexes.has(next)) way.push(visit(next));
        else if (isOpen.has(next)) lower(node, indexes.get(next) as number);
        continue;
      }
      way.pop();
      const low = lowest.get(node) as number;
      const before = way.at(-1);
      if (before !== undefined) lower(before.node, low);
      if (low !== indexes.get(node)) continue;
      const component = new Set(open.splice(open.lastIndexOf(node)));
      for (const each of component) isOpen.delete(each);
      if (component.size > 1 || [...successors(node)].includes(node)) components.push(component);
    }
  }
  return components;
}
