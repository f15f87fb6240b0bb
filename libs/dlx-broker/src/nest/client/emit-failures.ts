import { Contract } from '../features/contract/contract.js';
import type { UnroutableEvents } from './unroutable-events.js';

/** Logs the failures of events that no subscriber gets. */
export class EmitFailures {
  /** @param keyOf the routing key of a pattern, for errors; it may throw */
  constructor(
    private readonly unroutable: UnroutableEvents,
    private readonly keyOf: (pattern: unknown) => string,
  ) {}

  unseen(pattern: unknown, failure: Error): void {
    this.unroutable.failed(this.#nameOf(pattern), failure);
  }

  /** Logs what a subscriber threw when it got the outcome. */
  thrown(error: unknown): void {
    this.unroutable.thrown(error);
  }

  /** The routing key of a pattern; its type if it cannot be written as one. */
  #nameOf(pattern: unknown): string {
    if (pattern === undefined || pattern === null) return String(pattern);
    try {
      if (pattern instanceof Contract) return pattern.pattern;
      return this.keyOf(pattern);
    } catch {
      return typeof pattern;
    }
  }
}
