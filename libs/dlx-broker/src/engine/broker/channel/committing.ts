import type { Task } from '../scheduler/task.js';
import {
  type HeldPublish,
  type HeldSettlement,
  inOrderOfCommit,
  type NextSettlement,
  type OneSettlement,
} from './transaction.js';

/** What a commit needs of its channel: how its publishes and settlements are applied. */
export interface CommitHome {
  publish(held: HeldPublish, now: number): void;
  apply(settlement: OneSettlement, now: number): void;
  /**
   * Lets the queues deliver what is possible by now. @returns steps taken; as many as the limit when there may be more
   */
  serve(now: number, limit: number): number;
  /** Whether the queues deliver after each step of the order. */
  readonly deliversBetween: boolean;
}

/**
 * Publishes the messages of a transaction, then settles in the order of its commit (rules J6, K8, K12), in turns.
 */
export class Committing implements Task {
  readonly #order: Iterator<NextSettlement | 'later', undefined>;
  #next: NextSettlement | 'later' | undefined;
  #mayDeliver = false;
  #isBegun = false;
  #nextPublish = 0;

  constructor(
    readonly publishes: readonly HeldPublish[],
    settlements: readonly HeldSettlement[],
    readonly home: CommitHome,
  ) {
    this.#order = inOrderOfCommit(settlements);
  }

  work(now: number, limit: number): number {
    let steps = 0;
    for (; this.#nextPublish < this.publishes.length; this.#nextPublish++) {
      if (steps >= limit) return limit;
      const held = this.publishes[this.#nextPublish] as HeldPublish;
      this.home.publish(held, now);
      steps += Math.max(1, held.routed.queues.length);
    }
    while (steps < limit) {
      if (this.#mayDeliver) {
        steps += this.home.serve(now, limit - steps);
        if (steps >= limit) break;
        this.#mayDeliver = false;
      }
      if (this.#next === undefined) {
        if (this.#advance()) continue;
        return steps;
      }
      if (this.#next !== 'later') this.home.apply(this.#next, now);
      this.#next = undefined;
      steps++;
    }
    return limit;
  }

  /** Takes the next settlement. @returns false when there is none */
  #advance(): boolean {
    const { done, value } = this.#order.next();
    if (done === true) return false;
    this.#next = value;
    if (value === 'later') return true;
    this.#mayDeliver = this.#isBegun && value.isFirstOfStep && this.home.deliversBetween;
    this.#isBegun = true;
    return true;
  }
}
