import type { Task } from './scheduler.js';
import { Deque } from '../deque.js';

/** What is gone for every client and still has to be cleared away, one task after the other. */
export class Clearing {
  readonly #tasks = new Deque<Task>();
  /** Tasks added so far, and how many of them are done. */
  #begun = 0;
  #done = 0;
  readonly #waiting = new Deque<{ readonly upTo: number; readonly tell: () => void }>();

  get isDone(): boolean {
    return this.#tasks.length === 0;
  }

  add(task: Task): void {
    this.#tasks.push(task);
    this.#begun++;
  }

  /** Calls `then` when all tasks so far are done: at once when they are. */
  whenDone(then: () => void): void {
    if (this.isDone) then();
    else this.#waiting.push({ upTo: this.#begun, tell: then });
  }

  /** @param limit steps at most @returns steps taken */
  work(now: number, limit: number): number {
    let steps = 0;
    for (let task = this.#tasks.first(); task !== undefined && steps < limit; task = this.#tasks.first()) {
      const left = limit - steps;
      const taken = task.work(now, left);
      steps += taken;
      if (taken >= left) break;
      this.#tasks.shift();
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

/** A task that goes on by one with each step. */
export const inSteps = (work: Iterator<void, undefined>): Task => ({
  work: (_now, limit) => {
    for (let steps = 0; steps < limit; steps++) if (work.next().done === true) return steps;
    return limit;
  },
});
