import type { Cursor } from '../queue/ready-list.js';
import { Line } from './line.js';
import type { LookedAt, TimeOf } from './looked-at.js';

/** The messages that are looked at between two pauses. */
const stride = 64;

/** The messages that may still be looked at; several looks may share it. */
export interface LookBudget {
  left: number;
}

/** The oldest message of a queue. */
export interface Oldest {
  /** Milliseconds since 1970; undefined if no message that was looked at has a time. */
  readonly time: number | undefined;
  /** True if the budget was too small, so that an older message may be there. The next look goes on. */
  readonly isPart: boolean;
}

/**
 * Finds the oldest ready message of a queue, without an index on the way of each message. It remembers the least time of each thousand
 * messages, so that a look costs little more than the messages that came since the last look. Messages that came back stand at the
 * front, in any number: these are looked at each time.
 */
export class OldestMessage {
  readonly #lines = new Map<number, Line>();

  constructor(
    readonly queue: LookedAt,
    readonly timeOf: TimeOf,
  ) {}

  /** Looks for it. Messages may come and go in a pause. Yields wherever it may pause. */
  *find(budget: LookBudget): Generator<void, Oldest, void> {
    let least = Infinity;
    let isPart = false;
    const { lengths = [this.queue.length] } = this.queue;
    for (let priority = lengths.length - 1; priority >= 0; priority--) {
      if (lengths[priority] === 0) {
        this.#lines.delete(priority);
        continue;
      }
      for (const part of [this.#returned(priority, budget), this.#waiting(priority, budget)]) {
        const found = yield* part;
        least = Math.min(least, found.time ?? Infinity);
        isPart ||= found.isPart;
      }
    }
    return { time: least === Infinity ? undefined : least, isPart };
  }

  /** The messages of a priority that came back. */
  *#returned(priority: number, budget: LookBudget): Generator<void, Oldest, void> {
    const section = priority * 2 + 1;
    // The end of the priority above.
    let after: Cursor | undefined =
      this.queue.lengths === undefined ? undefined : { section: section + 1, position: Infinity };
    if (this.queue.browse({ after, limit: 1 }).sections[0] !== section) return { time: undefined, isPart: false };
    let least = Infinity;
    while (budget.left > 0) {
      const { entries, sections, next } = this.queue.browse({ after, limit: Math.min(stride, budget.left) });
      for (const [index, { message }] of entries.entries()) {
        if (sections[index] !== section) return { time: least, isPart: false };
        least = Math.min(least, this.timeOf(message) ?? Infinity);
        budget.left--;
      }
      if (next === undefined) return { time: least, isPart: false };
      after = next;
      yield;
    }
    return { time: least, isPart: true };
  }

  /** The messages of a priority that were never taken. */
  *#waiting(priority: number, budget: LookBudget): Generator<void, Oldest, void> {
    const line = this.#lineOf(priority);
    line.forgetTaken();
    let isPart = true;
    while (budget.left > 0) {
      const limit = Math.min(stride, budget.left);
      const looked = line.extend(limit);
      budget.left -= looked;
      isPart = looked === limit;
      if (!isPart) break;
      yield;
    }
    for (;;) {
      const time = line.least();
      if (time !== undefined) return { time, isPart };
      yield;
    }
  }

  #lineOf(priority: number): Line {
    let line = this.#lines.get(priority);
    if (line === undefined) this.#lines.set(priority, (line = new Line(priority * 2, this.queue, this.timeOf)));
    return line;
  }
}
