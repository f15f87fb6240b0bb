import type { Chore } from '../agenda.js';
import type { Entry } from './entry.js';
import type { Queue } from './queue.js';
import type { TakenOut } from './taken-out.js';

/** Messages that only go are much less work than one that moves: so many are one step of the agenda. */
export const purgedInStep = 16;

/**
 * Lets go of what was purged, oldest first: for clients it is gone already. A crash in its midst leaves some of the last
 * ones, and the answer to the purge waits until all are gone (rule O6).
 */
export class Purging implements Chore {
  constructor(
    readonly queue: Queue,
    readonly taken: TakenOut,
    readonly drop: (entry: Entry) => void,
  ) {}

  work(_now: number, limit: number): number {
    for (let steps = 0; steps < limit; steps++) if (!this.#step()) return steps;
    return limit;
  }

  /** @returns false when nothing is left to do */
  #step(): boolean {
    for (let count = 0; count < purgedInStep; count++) {
      if (this.queue.deleted) return this.#end(); // the journal knows of all of them by that
      const entry = this.taken.next();
      if (entry === undefined) return this.#end();
      this.drop(entry);
    }
    return true;
  }

  #end(): false {
    this.taken.delayed?.clear();
    return false;
  }
}
