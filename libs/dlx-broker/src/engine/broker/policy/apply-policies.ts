import type { Task } from '../scheduler/task.js';
import type { Exchange } from '../exchange/exchange.js';
import type { MatchCost } from '../patterns.js';
import type { PolicyBook } from './policy-book.js';
import type { Queue } from '../queue/queue.js';

/** The steps of pattern matching that count as one step of the scheduler. */
const matchingSteps = 20;
/** The steps of the scheduler that one queue or exchange counts, besides the matching. */
const stepsPerObject = 2;

/** The exchanges, queues and policies of a virtual host. */
export interface PolicyTargets {
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly queues: ReadonlyMap<string, Queue>;
  readonly policies: PolicyBook;
}

/**
 * Applies the policies to all queues and exchanges (rule F6), in turns that count the steps of pattern matching. An object that is
 * declared meanwhile gets its policy when it is declared. After a change of the policies the task begins again.
 */
export class ApplyPolicies implements Task {
  readonly #cost: MatchCost = { steps: 0 };
  readonly #waiters: (() => void)[] = [];
  #exchanges: Iterator<Exchange, undefined> | undefined;
  #queues: Iterator<Queue, undefined> | undefined;
  #isAskedAgain = false;

  constructor(
    readonly targets: PolicyTargets,
    /** Called after the last step. */
    readonly ended: () => void,
  ) {}

  /** Begins again, because the policies have changed. */
  again(): void {
    this.#isAskedAgain = true;
  }

  /** Calls `callback` when the present policies are applied to all objects. */
  whenDone(callback: () => void): void {
    this.#waiters.push(callback);
  }

  work(now: number, limit: number): number {
    let steps = 0;
    while (steps < limit) {
      this.#cost.steps = 0;
      if (!this.#applyNext(now)) {
        if (!this.#isAskedAgain) return this.#end(steps);
        this.#isAskedAgain = false;
        this.#exchanges = undefined;
        this.#queues = undefined;
        continue;
      }
      steps += stepsPerObject + Math.floor(this.#cost.steps / matchingSteps);
    }
    return steps;
  }

  /** @returns false if no object was left */
  #applyNext(now: number): boolean {
    const { exchanges, queues, policies } = this.targets;
    this.#exchanges ??= exchanges.values();
    const exchange = this.#exchanges.next().value;
    if (exchange !== undefined) {
      policies.applyToExchange(exchange, this.#cost);
      return true;
    }
    this.#queues ??= queues.values();
    const queue = this.#queues.next().value;
    if (queue === undefined) return false;
    const inForce = policies.stillInForce(queue.declared, queue.inForce, this.#cost);
    if (inForce !== queue.inForce) queue.apply(inForce, now);
    return true;
  }

  #end(steps: number): number {
    this.targets.policies.applied();
    this.ended();
    for (const callback of this.#waiters) callback();
    return steps;
  }
}
