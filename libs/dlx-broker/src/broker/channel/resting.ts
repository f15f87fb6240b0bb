import type { Agenda, Chore } from '../agenda.js';

/**
 * The queues come to rest, the dead letters of that moment arrive, and the queues come to rest again (rule K13). What comes of
 * that later is not waited for, so it has an end in a ring of queues as well.
 */
export class Resting implements Chore {
  #isAttended = false;
  #letters = 0;

  constructor(readonly agenda: Agenda) {}

  work(now: number, limit: number): number {
    const { agenda } = this;
    let steps = 0;
    if (!this.#isAttended) {
      steps = agenda.attendUpTo(now, limit);
      if (steps >= limit) return limit;
      this.#isAttended = true;
      this.#letters = agenda.dead.length;
    }
    const carried = agenda.carryUpTo(now, Math.min(this.#letters, limit - steps));
    this.#letters -= carried;
    steps += carried;
    if (steps >= limit) return limit;
    return steps + agenda.attendUpTo(now, limit - steps);
  }
}
