import type { LookedAt, TimeOf } from './looked-at.js';
import { type LookBudget, type Oldest, OldestMessage } from './oldest-message.js';

/** The oldest messages of queues, for all that ask: what one look found out, the next one has. */
export class OldestMessages {
  readonly #known = new WeakMap<LookedAt, OldestMessage>();

  /**
   * Looks for the oldest ready message of a queue. Yields wherever it may pause.
   * @param budget counted down by the messages that were looked at
   */
  *find(queue: LookedAt, timeOf: TimeOf, budget: LookBudget): Generator<void, Oldest, void> {
    let known = this.#known.get(queue);
    if (known?.timeOf !== timeOf) this.#known.set(queue, (known = new OldestMessage(queue, timeOf)));
    return yield* known.find(budget);
  }
}
