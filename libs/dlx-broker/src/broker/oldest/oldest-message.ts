import type { Cursor } from '../queue/ready-list.js';
import { Line } from './line.js';
import type { SearchedQueue, TimeOf } from './searched-queue.js';

/** The number of messages that are read between two pauses. */
const stride = 64;

/** The number of messages that may still be read; several searches may share it. */
export interface LookBudget {
  left: number;
}

/** The oldest message of a queue. */
export interface Oldest {
  /** Milliseconds since 1970; undefined if no message that was read has a time. */
  readonly time: number | undefined;
  /** True if the budget was too small, so that an older message may be there. The next search goes on from there. */
  readonly isPart: boolean;
}

/**
 * Finds the oldest ready message of a queue, without an index that every publish would have to update. It remembers the earliest time of each
 * thousand messages, so that a search costs little more than reading the messages that came since the last one. Returned messages
 * stand at the front: these are read each time.
 */
export class OldestMessage {
  readonly #lines = new Map<number, Line>();

  constructor(
    readonly queue: SearchedQueue,
    readonly timeOf: TimeOf,
  ) {}

  /** Searches for it. Yields wherever the caller may pause; messages may come and go in a pause. */
  *find(budget: LookBudget): Generator<void, Oldest, void> {
    let earliest = Infinity;
    let isPart = false;
    const { lengths = [this.queue.length] } = this.queue;
    for (let priority = lengths.length - 1; priority >= 0; priority--) {
      if (lengths[priority] === 0) {
        this.#lines.delete(priority);
        continue;
      }
      for (const part of [this.#returned(priority, budget), this.#waiting(priority, budget)]) {
        const found = yield* part;
        earliest = Math.min(earliest, found.time ?? Infinity);
        isPart ||= found.isPart;
      }
    }
    return { time: earliest === Infinity ? undefined : earliest, isPart };
  }

  /** The messages of a priority that came back. */
  *#returned(priority: number, budget: LookBudget): Generator<void, Oldest, void> {
    const section = priority * 2 + 1;
    // The cursor stands behind all messages of the priority above.
    let after: Cursor | undefined =
      this.queue.lengths === undefined ? undefined : { section: section + 1, position: Infinity };
    if (this.queue.browse({ after, limit: 1 }).sections[0] !== section) return { time: undefined, isPart: false };
    let earliest = Infinity;
    while (budget.left > 0) {
      const { entries, sections, next } = this.queue.browse({ after, limit: Math.min(stride, budget.left) });
      for (const [index, { message }] of entries.entries()) {
        if (sections[index] !== section) return { time: earliest, isPart: false };
        earliest = Math.min(earliest, this.timeOf(message) ?? Infinity);
        budget.left--;
      }
      if (next === undefined) return { time: earliest, isPart: false };
      after = next;
      yield;
    }
    return { time: earliest, isPart: true };
  }

  /** The messages of a priority that were never taken. */
  *#waiting(priority: number, budget: LookBudget): Generator<void, Oldest, void> {
    const line = this.#lineOf(priority);
    line.forgetTaken();
    let isPart = true;
    while (budget.left > 0) {
      const limit = Math.min(stride, budget.left);
      const read = line.extend(limit);
      budget.left -= read;
      isPart = read === limit;
      if (!isPart) break;
      yield;
    }
    for (;;) {
      const time = line.earliest();
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
