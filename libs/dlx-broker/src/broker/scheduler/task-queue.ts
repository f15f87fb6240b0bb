import type { Task } from './scheduler.js';
import { Deque } from '../deque.js';

/** Long works of commands, one after the other, and who waits for their end. */
export class TaskQueue {
  readonly #tasks = new Deque<Task>();
  /** Tasks added so far, and how many of them are done. */
  #begun = 0;
  #done = 0;
  readonly #waiting = new Deque<{ readonly upTo: number; readonly tell: () => void }>();

  /** The number of the last one: they are counted from 1. */
  get last(): number {
    return this.#begun;
  }

  get length(): number {
    return this.#tasks.length;
  }

  add(task: Task): void {
    this.#tasks.push(task);
    this.#begun++;
  }

  /** Goes on with the first one. @returns steps taken */
  work(now: number, limit: number): number {
    const task = this.#tasks.first();
    if (task === undefined) return 0;
    const steps = task.work(now, limit);
    if (steps >= limit) return steps;
    this.#tasks.shift();
    this.#done++;
    return steps;
  }

  /** Calls `then` when all tasks up to this number are done: at once when they are, else by {@link nextTold}. */
  after(upTo: number, then: () => void): void {
    if (upTo <= this.#done) then();
    else this.#waiting.push({ upTo, tell: then });
  }

  /** What is to be called next, for all it waited for is done. It may begin commands of its own. */
  nextTold(): (() => void) | undefined {
    const next = this.#waiting.first();
    if (next === undefined || next.upTo > this.#done) return undefined;
    this.#waiting.shift();
    return next.tell;
  }
}
