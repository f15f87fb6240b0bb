import type { Backend } from '../../backends/index.js';
import { watchRequester } from './requester.js';
import { Batch, type InBatch } from './batch.js';

/** An answer of many values that has not ended. */
export interface OpenAnswer extends InBatch {
  readonly replyTo: string;
  readonly correlationId: string | undefined;
  /** No client waits for the answer any more. */
  gone(): void;
  /** Calls a function in the async context of the message. */
  inOwnContext(begin: () => void): void;
  /** Gets the function that ends the watch. */
  watched(unwatch: () => void): void;
}

/**
 * Watches the clients that wait for answers of many values. Most answers end soon, and a watch costs about as much as the
 * request itself. So an answer is watched only when it is older than a turn of the event loop.
 */
export class Requesters {
  readonly #young = new Batch<OpenAnswer>(setImmediate, (answer) => this.#watch(answer));

  constructor(private readonly backend: Backend) {}

  /** The answer's `gone` is called when no client waits for it, unless the answer has left by then. */
  add(answer: OpenAnswer): void {
    this.#young.add(answer);
  }

  /** The answer has ended before it was watched. */
  leave(answer: OpenAnswer): void {
    this.#young.leave(answer);
  }

  #watch(answer: OpenAnswer): void {
    answer.inOwnContext(() => {
      const { replyTo, correlationId } = answer;
      answer.watched(watchRequester(this.backend, replyTo, correlationId, () => answer.gone()));
    });
  }
}
