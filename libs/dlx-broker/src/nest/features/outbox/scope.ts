import { AsyncLocalStorage } from 'node:async_hooks';
import type { Collector } from './collector.js';

/** What one scope put into the async context, in front of what other scopes of the process put there. */
interface Entry {
  readonly scope: OutboxScope;
  readonly collector: Collector | undefined;
  readonly outer: Entry | undefined;
}

/**
 * One storage for all applications of the process. Node.js 20 visits each storage that is in use at each promise, also those of
 * applications that are closed, so a storage for each application would make every promise of a test process slower.
 */
const entries = new AsyncLocalStorage<Entry | undefined>();

/**
 * Finds the outbox of the handler that calls `emit`; one instance for each application. The storage is used from the first handler
 * with an outbox on: an application without one does not pay for it.
 */
export class OutboxScope {
  #isUsed = false;

  /** The collector of the attempt that calls; undefined outside of handlers with an outbox of this application. */
  get current(): Collector | undefined {
    if (!this.#isUsed) return undefined;
    let entry = entries.getStore();
    while (entry !== undefined && entry.scope !== this) entry = entry.outer;
    return entry?.collector;
  }

  /** Runs the code of a handler. */
  run<T>(collector: Collector, handle: () => T): T {
    this.#isUsed = true;
    return entries.run({ scope: this, collector, outer: entries.getStore() }, handle);
  }

  /** Runs what is no code of the handler, such as listeners that hear of its outcome. */
  leave(then: () => void): void {
    entries.run({ scope: this, collector: undefined, outer: entries.getStore() }, then);
  }
}
