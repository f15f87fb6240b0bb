import { AsyncLocalStorage } from 'node:async_hooks';
import type { Collector } from './outbox.js';

/**
 * Finds the outbox of the handler that calls `emit`. The storage is used from the first handler with an outbox on: an application
 * without one does not pay for it.
 */
export class OutboxScope {
  readonly #storage = new AsyncLocalStorage<Collector | undefined>();
  #isUsed = false;

  /** The collector of the attempt that calls; undefined outside of handlers with an outbox. */
  get current(): Collector | undefined {
    return this.#isUsed ? this.#storage.getStore() : undefined;
  }

  /** Runs the code of a handler. */
  run<T>(collector: Collector, handle: () => T): T {
    this.#isUsed = true;
    return this.#storage.run(collector, handle);
  }

  /** Runs what is no code of the handler, such as listeners that hear of its outcome. */
  leave(then: () => void): void {
    this.#storage.run(undefined, then);
  }
}
