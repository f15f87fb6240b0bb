import type { Queue } from '../../../broker/index.js';
import type { DeadLetterEdge } from './dead-letter-edges.js';

/** Queues that dead-letter into one another until the first is reached again. */
export interface Loop {
  /** The steps in order; the last leads to the first. */
  readonly edges: readonly DeadLetterEdge[];
  /** True if every message takes this way, see {@link DeadLetterEdge.reaches}. */
  readonly certain: boolean;
  /**
   * True if a message can go round without a rejection, because messages die in each queue for another reason as well; the broker
   * then drops it (rule I2). False if a consumer has to reject it on every round, so that it can go round for ever.
   */
  readonly cut: boolean;
  /** The least milliseconds that a message waits in one round. */
  readonly delay: number;
  /** A `retry` waits on its way, a `spin` does not; of what goes round by itself all is `dropped` (rule I2). */
  readonly kind: 'retry' | 'spin' | 'dropped';
}

/** The largest number of loops in an answer. */
const mostLoops = 200;

/**
 * Finds loops: for each step that is part of a loop, the shortest loop with that step. So every queue and step of every loop is
 * shown, without a search through all loops, whose number may be exponential.
 */
export function* loopsIn(edges: ReadonlyMap<Queue, DeadLetterEdge>): Generator<void, readonly Loop[], void> {
  const loops = new Map<string, Loop>();
  for (const group of yield* entangled(edges)) {
    for (const queue of group) {
      for (const next of (edges.get(queue) as DeadLetterEdge).reaches.keys()) {
        if (!group.has(next) || loops.size >= mostLoops) continue;
        const way = rotated(wayBack(next, queue, group, edges));
        if (way.length > 0) loops.set(JSON.stringify(way.map(({ name }) => name)), loopOf(way, edges));
        yield;
      }
    }
  }
  return [...loops.values()];
}

/** Queues that can be reached from one another, by groups; most queues are in none (Tarjan, without recursion). */
function* entangled(edges: ReadonlyMap<Queue, DeadLetterEdge>): Generator<void, readonly ReadonlySet<Queue>[], void> {
  const groups: Set<Queue>[] = [];
  const indexes = new Map<Queue, number>();
  const lowest = new Map<Queue, number>();
  const stack: Queue[] = [];
  const onStack = new Set<Queue>();
  const visit = (queue: Queue): Step => {
    indexes.set(queue, indexes.size);
    lowest.set(queue, indexes.get(queue) as number);
    stack.push(queue);
    onStack.add(queue);
    return { queue, rest: (edges.get(queue)?.reaches ?? nowhere).keys() };
  };
  const lower = (queue: Queue, to: number): void => {
    if (to < (lowest.get(queue) as number)) lowest.set(queue, to);
  };
  for (const root of edges.keys()) {
    if (indexes.has(root)) continue;
    const steps = [visit(root)];
    for (let step = steps.at(-1); step !== undefined; step = steps.at(-1)) {
      yield;
      const { value: next, done } = step.rest.next();
      if (done !== true) {
        if (!indexes.has(next)) steps.push(visit(next));
        else if (onStack.has(next)) lower(step.queue, indexes.get(next) as number);
        continue;
      }
      steps.pop();
      const { queue } = step;
      const low = lowest.get(queue) as number;
      const before = steps.at(-1);
      if (before !== undefined) lower(before.queue, low);
      if (low !== indexes.get(queue)) continue;
      const group = new Set(stack.splice(stack.lastIndexOf(queue)));
      for (const each of group) onStack.delete(each);
      if (group.size > 1 || edges.get(queue)?.reaches.has(queue) === true) groups.push(group);
    }
  }
  return groups;
}

interface Step {
  readonly queue: Queue;
  readonly rest: Iterator<Queue, undefined>;
}

const nowhere: ReadonlyMap<Queue, boolean> = new Map();

/** The shortest way between two queues of a group, both ends included. */
function wayBack(
  from: Queue,
  to: Queue,
  group: ReadonlySet<Queue>,
  edges: ReadonlyMap<Queue, DeadLetterEdge>,
): readonly Queue[] {
  const before = new Map<Queue, Queue | undefined>([[from, undefined]]);
  for (const queue of before.keys()) {
    if (queue === to) {
      const way: Queue[] = [];
      for (let each: Queue | undefined = to; each !== undefined; each = before.get(each)) way.push(each);
      return way.reverse();
    }
    for (const next of edges.get(queue)?.reaches.keys() ?? []) {
      if (group.has(next) && !before.has(next)) before.set(next, queue);
    }
  }
  return [];
}

/** The loop in a form that does not depend on its first queue. */
function rotated(way: readonly Queue[]): readonly Queue[] {
  const least = way.reduce((best, { name }, index) => (name < (way[best] as Queue).name ? index : best), 0);
  return [...way.slice(least), ...way.slice(0, least)];
}

function loopOf(way: readonly Queue[], edges: ReadonlyMap<Queue, DeadLetterEdge>): Loop {
  const round = way.map((queue) => edges.get(queue) as DeadLetterEdge);
  const certain = round.every((edge, index) => edge.reaches.get(way[(index + 1) % way.length] as Queue) === true);
  const cut = round.every(({ automatic }) => automatic.length > 0);
  const delay = round.reduce((sum, edge) => sum + (edge.delay ?? 0), 0);
  return { edges: round, certain, cut, delay, kind: cut ? 'dropped' : delay > 0 ? 'retry' : 'spin' };
}
