import type { LookBudget, Queue } from '../../../broker/index.js';
import { deadSince } from '../../../history/index.js';

/** The most messages that one answer looks at for the ages of its queues: some hundredths of a second. The next answer goes on. */
const mostInAnswer = 100_000;

/** The oldest dead letters of queues, for one answer. */
export class OldestLetters {
  readonly #found = new Map<Queue, number>();
  readonly #budget: LookBudget;

  constructor(budget = mostInAnswer) {
    this.#budget = { left: budget };
  }

  /** Looks into queues of dead letters. Yields wherever it may pause. */
  *look(queues: Iterable<Queue>): Generator<undefined, void, void> {
    for (const queue of queues) {
      if (queue.length === 0 || queue.deleted) continue;
      const work = queue.home.oldest.find(queue, deadSince, this.#budget);
      let step = work.next();
      for (; step.done !== true; step = work.next()) yield;
      const { time } = step.value;
      if (time !== undefined) this.#found.set(queue, time);
      yield;
    }
  }

  /**
   * Since when the oldest dead letter of a queue is dead, in milliseconds since 1970. The next message counts in any case, also in a
   * queue that was not looked into, and before all messages were looked at.
   */
  of(queue: Queue): number | undefined {
    const { head } = queue;
    const first = head === undefined ? undefined : deadSince(head);
    const found = head === undefined ? undefined : this.#found.get(queue);
    return first === undefined || found === undefined ? (first ?? found) : Math.min(first, found);
  }
}
