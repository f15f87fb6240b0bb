import type { Scheduler, Task } from './scheduler.js';

/**
 * The queues come to rest, the dead letters of that moment arrive, and the queues come to rest again (rule K13). What comes of
 * that later is not waited for, so it has an end in a ring of queues as well.
 */
export class Resting implements Task {
  #isAttended = false;
  #letters = 0;

  constructor(readonly scheduler: Scheduler) {}

  work(now: number, limit: number): number {
    const { scheduler } = this;
    let steps = 0;
    if (!this.#isAttended) {
      steps = scheduler.serveUpTo(now, limit);
      if (steps >= limit) return limit;
      this.#isAttended = true;
      this.#letters = scheduler.dead.length;
    }
    const carried = scheduler.carryUpTo(now, Math.min(this.#letters, limit - steps));
    this.#letters -= carried;
    steps += carried;
    if (steps >= limit) return limit;
    return steps + scheduler.serveUpTo(now, limit - steps);
  }
}
