import type { Scheduler } from './scheduler.js';
import type { Task } from './task.js';

/**
 * Serves the queues, routes the dead letters of that moment, and serves the queues again (rule K13). It does not wait for later dead
 * letters, so the task ends even if queues dead-letter to one another in a cycle.
 */
export class FlushTask implements Task {
  #isServed = false;
  #letters = 0;

  constructor(readonly scheduler: Scheduler) {}

  work(now: number, limit: number): number {
    const { scheduler } = this;
    let steps = 0;
    if (!this.#isServed) {
      steps = scheduler.serveQueues(now, limit);
      if (steps >= limit) return limit;
      this.#isServed = true;
      this.#letters = scheduler.dead.length;
    }
    const routed = scheduler.routeDeadLetters(now, Math.min(this.#letters, limit - steps));
    this.#letters -= routed;
    steps += routed;
    if (steps >= limit) return limit;
    return steps + scheduler.serveQueues(now, limit - steps);
  }
}
