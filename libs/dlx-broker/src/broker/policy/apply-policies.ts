import type { Task } from '../scheduler/task.js';
import type { Exchange } from '../exchange/exchange.js';
import type { MatchCost } from '../patterns.js';
import type { PolicyBook } from './policy-book.js';
import type { Queue } from '../queue/queue.js';

/** Steps of matching that take as long as one of the scheduler. */
const matchingSteps = 20;
/** Steps of the scheduler that a queue or an exchange takes beside the matching. */
const eachTakes = 2;

/** All exchanges and queues of a virtual host, and its policies. */
export interface PolicyTargets {
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly queues: ReadonlyMap<string, Queue>;
  readonly policies: PolicyBook;
}

/**
 * Puts the policies in force on everything there is (rule F6). It is counted by the steps that the patterns take. What
 * is declared meanwhile has them from its beginning; after a change of the policies meanwhile it begins once more.
 */
export class ApplyPolicies implements Task {
  readonly #cost: MatchCost = { steps: 0 };
  readonly #waiters: (() => void)[] = [];
  #exchanges: Iterator<Exchange, undefined> | undefined;
  #queues: Iterator<Queue, undefined> | undefined;
  #isAskedAgain = false;

  constructor(
    readonly targets: PolicyTargets,
    /** Called when the last step is done. */
    readonly ended: () => void,
  ) {}

  /** The policies have changed once more. */
  again(): void {
    this.#isAskedAgain = true;
  }

  /** Calls `callback` when all has the policies of this moment. */
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
      steps += eachTakes + Math.floor(this.#cost.steps / matchingSteps);
    }
    return steps;
  }

  /** @returns false when there was none left */
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
    const before = queue.inForce;
    const inForce = policies.inForce(queue.declared, this.#cost);
    queue.inForce = inForce;
    const isOther = inForce.policy !== before?.policy || inForce.operatorPolicy !== before?.operatorPolicy;
    queue.apply(inForce.settings, now, isOther);
    return true;
  }

  #end(steps: number): number {
    this.ended();
    for (const callback of this.#waiters) callback();
    return steps;
  }
}
