import type { DelayedReturns } from './delayed-returns.js';
import type { Entry } from './entry.js';
import type { Ready } from './ready-list.js';

/** Messages that are in their queue no longer, one after the other. */
export class TakenOut {
  constructor(
    readonly ready: Ready,
    /** Abandoned. */
    readonly delayed: DelayedReturns | undefined,
  ) {}

  /** Undefined when there is none left. */
  next(): Entry | undefined {
    return this.ready.shift() ?? this.delayed?.shift();
  }
}
