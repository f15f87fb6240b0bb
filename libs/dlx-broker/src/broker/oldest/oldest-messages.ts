import type { SearchedQueue, TimeOf } from './searched-queue.js';
import { type LookBudget, type Oldest, OldestMessage } from './oldest-message.js';

/** The oldest messages of queues. All callers share what earlier searches have found. */
export class OldestMessages {
  readonly #known = new WeakMap<SearchedQueue, OldestMessage>();

  /**
   * Searches for the oldest ready message of a queue. Yields wherever the caller may pause.
   * @param budget counted down by the messages that are read
   */
  *find(queue: SearchedQueue, timeOf: TimeOf, budget: LookBudget): Generator<void, Oldest, void> {
    let known = this.#known.get(queue);
    if (known?.timeOf !== timeOf) this.#known.set(queue, (known = new OldestMessage(queue, timeOf)));
    return yield* known.find(budget);
  }
}
