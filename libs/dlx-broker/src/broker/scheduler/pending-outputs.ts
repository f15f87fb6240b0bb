import { Deque } from '../deque.js';

interface Waiter {
  /** The output it waits for, counted from 1. */
  readonly last: number;
  readonly callback: () => void;
}

/**
 * The outputs of one connection that are not sent yet: a batch is not over, or the pace asks for a pause. Callbacks can
 * wait for them. Output to other connections delays none of them.
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

  /** The oldest one has been sent. */
  sent(): void {
    this.#sent++;
    if (this.#waiters !== undefined) this.#callWaiters(this.#waiters);
  }

  /** Calls `callback` when all outputs so far are sent: now, if none is pending. */
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
