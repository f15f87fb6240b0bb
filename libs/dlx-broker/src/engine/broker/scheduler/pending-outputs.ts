import { Deque } from '../deque.js';

interface Waiter {
  /** The number of the output for which it waits, counted from 1. */
  readonly last: number;
  readonly callback: () => void;
}

/**
 * Counts the outputs of one connection that are not sent yet, because a batch is not over or the pace asks for a pause. Callbacks can
 * wait for them. Outputs of other connections delay no callback.
 */
export class PendingOutputs {
  #added = 0;
  #sent = 0;
  #waiters: Deque<Waiter> | undefined;

  get isEmpty(): boolean {
    return this.#sent === this.#added;
  }

  add(): void {
    this.#added++;
  }

  /** The oldest output has been sent. */
  sent(): void {
    this.#sent++;
    if (this.#waiters !== undefined) this.#callWaiters(this.#waiters);
  }

  /** Calls `callback` when all present outputs are sent: now, if none is pending. */
  after(callback: () => void): void {
    if (this.isEmpty) callback();
    else (this.#waiters ??= new Deque()).push({ last: this.#added, callback });
  }

  #callWaiters(waiters: Deque<Waiter>): void {
    for (let waiter = waiters.first(); waiter !== undefined; waiter = waiters.first()) {
      if (waiter.last > this.#sent) return;
      waiters.shift();
      waiter.callback();
    }
    this.#waiters = undefined;
  }
}
