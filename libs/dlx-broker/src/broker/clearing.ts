import type { Chore } from './agenda.js';
import { Deque } from './deque.js';

/** What is gone for every client and still has to be cleared away, one chore after the other. */
export class Clearing {
  readonly #chores = new Deque<Chore>();
  /** Chores so far, and how many of them are done. */
  #begun = 0;
  #done = 0;
  readonly #waiting = new Deque<{ readonly upTo: number; readonly tell: () => void }>();

  get isDone(): boolean {
    return this.#chores.length === 0;
  }

  add(chore: Chore): void {
    this.#chores.push(chore);
    this.#begun++;
  }

  /** Calls `then` when all chores so far are done: at once when they are. */
  whenDone(then: () => void): void {
    if (this.isDone) then();
    else this.#waiting.push({ upTo: this.#begun, tell: then });
  }

  /** @param limit steps at most @returns steps taken */
  work(now: number, limit: number): number {
    let steps = 0;
    for (let chore = this.#chores.first(); chore !== undefined && steps < limit; chore = this.#chores.first()) {
      const left = limit - steps;
      const taken = chore.work(now, left);
      steps += taken;
      if (taken >= left) break;
      this.#chores.shift();
      this.#done++;
      this.#tell();
    }
    return steps;
  }

  #tell(): void {
    for (
      let next = this.#waiting.first();
      next !== undefined && next.upTo <= this.#done;
      next = this.#waiting.first()
    ) {
      this.#waiting.shift();
      next.tell();
    }
  }
}

/** A chore that goes on by one with each step. */
export const inSteps = (work: Iterator<void, undefined>): Chore => ({
  work: (_now, limit) => {
    for (let steps = 0; steps < limit; steps++) if (work.next().done === true) return steps;
    return limit;
  },
});
