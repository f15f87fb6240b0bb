import { Deque } from '../deque.js';

interface Waiter {
  /** The output it waits for, counted from 1. */
  readonly last: number;
  go(): void;
}

/**
 * One connection's outputs among those of all: how many are on their way out, inside a batch or because the pace asks for
 * a pause, and who waits for them. Output to other connections delays none of them.
 */
export class Lane {
  #entered = 0;
  #left = 0;
  #waiters: Deque<Waiter> | undefined;

  get isEmpty(): boolean {
    return this.#left === this.#entered;
  }

  /** An output is on its way. */
  entered(): void {
    this.#entered++;
  }

  /** The oldest one has been sent. */
  left(): void {
    this.#left++;
    if (this.#waiters !== undefined) this.#tell(this.#waiters);
  }

  /** Calls `then` behind all that is on its way: now, if nothing is. */
  after(then: () => void): void {
    if (this.isEmpty) then();
    else (this.#waiters ??= new Deque()).push({ last: this.#entered, go: then });
  }

  #tell(waiters: Deque<Waiter>): void {
    for (let waiter = waiters.first(); waiter !== undefined; waiter = waiters.first()) {
      if (waiter.last > this.#left) return;
      waiters.shift();
      waiter.go();
    }
    this.#waiters = undefined;
  }
}
