import { Deque } from '../deque.js';

/** Work of one command that may be long: a settlement of many deliveries, the end of a channel. */
export interface Task {
  /**
   * Continues where the task stopped.
   * @param limit steps at most
   * @returns steps taken; fewer than the limit when it is done
   */
  work(now: number, limit: number): number;
}

/** A task of which each step is one step of an iterator. */
export const inSteps = (work: Iterator<void, undefined>): Task => ({
  work: (_now, limit) => {
    for (let steps = 0; steps < limit; steps++) if (work.next().done === true) return steps;
    return limit;
  },
});

/** Long tasks of commands, one after the other, and the callbacks that wait for their end. */
export class TaskQueue {
  readonly #tasks = new Deque<Task>();
  /** Tasks added so far, and how many of them are done. */
  #added = 0;
  #done = 0;
  readonly #waiters = new Deque<{ readonly upTo: number; readonly callback: () => void }>();

  /** The number of the last task, counted from 1. */
  get last(): number {
    return this.#added;
  }

  get isEmpty(): boolean {
    return this.#tasks.length === 0;
  }

  add(task: Task): void {
    this.#tasks.push(task);
    this.#added++;
  }

  /** Continues the first task. @returns steps taken */
  work(now: number, limit: number): number {
    const task = this.#tasks.first();
    if (task === undefined) return 0;
    const steps = task.work(now, limit);
    if (steps >= limit) return steps;
    this.#tasks.shift();
    this.#done++;
    return steps;
  }

  /** Calls `callback` when all tasks up to this number are done: at once when they are, else by {@link callWaiters}. */
  after(upTo: number, callback: () => void): void {
    if (upTo <= this.#done) callback();
    else this.#waiters.push({ upTo, callback });
  }

  get hasWaiters(): boolean {
    return this.#waiters.length > 0;
  }

  /** Calls the callbacks whose tasks are done. They may begin commands of their own. */
  callWaiters(): void {
    for (let next = this.#waiters.first(); next !== undefined; next = this.#waiters.first()) {
      if (next.upTo > this.#done) return;
      this.#waiters.shift();
      next.callback();
    }
  }
}
