import type { AsyncSubject } from 'rxjs';
import { Contract } from './contracts/contract.js';
import type { UnroutableEvents } from './unroutable-events.js';

/** Ends the observables that `emit` returned. */
export class EmitResults {
  /** @param keyOf the routing key of a pattern, for errors; it may throw */
  constructor(
    private readonly unroutable: UnroutableEvents,
    private readonly keyOf: (pattern: unknown) => string,
  ) {}

  /**
   * A failure comes one tick later, so that the caller can subscribe before. Without a subscriber it is logged.
   * @param decide gets the failure, if no subscriber does
   */
  end<T>(
    result: AsyncSubject<T>,
    failure: Error | undefined,
    pattern: unknown,
    decide?: (unseen?: Error) => void,
  ): void {
    if (failure === undefined) {
      result.next(undefined as T);
      result.complete();
      return;
    }
    queueMicrotask(() => {
      if (!result.observed) this.unroutable.failed(this.#nameOf(pattern), failure);
      decide?.(result.observed ? undefined : failure);
      result.error(failure);
    });
  }

  /** The routing key of a pattern; its type if it cannot be written as one. */
  #nameOf(pattern: unknown): string {
    if (pattern instanceof Contract) return pattern.pattern;
    try {
      return this.keyOf(pattern);
    } catch {
      return typeof pattern;
    }
  }
}
