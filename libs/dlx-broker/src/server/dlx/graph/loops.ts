import type { Queue } from '../../../engine/broker/index.js';
import type { DeadLetterEdge } from './dead-letter-edges.js';

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
