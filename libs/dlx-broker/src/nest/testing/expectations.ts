import { inspect, isDeepStrictEqual } from 'node:util';
import type { QueueView } from './queue-view.js';
import type { Timeline } from './timeline.js';

/** An expectation failed. The message shows the events until then. */
export class ExpectationError extends Error {
  override readonly name = 'ExpectationError';

  constructor(
    what: string,
    readonly expected: unknown,
    readonly actual: unknown,
    timeline: Timeline,
  ) {
    const [wanted, found] = [expected, actual].map((value) => inspect(value, { depth: 6, breakLength: 100 }));
    super(`${what}\n  expected ${wanted}\n  but got  ${found}\nWhat happened:\n${timeline.toString()}`);
  }
}

/** Expectations about a queue, for any test framework. */
export class QueueExpectation {
  constructor(
    private readonly view: QueueView,
    private readonly timeline: Timeline,
  ) {}

  /** Exactly these payloads wait there, in this order. @throws ExpectationError */
  toHold(payloads: readonly unknown[]): void {
    this.#same(`queue '${this.view.name}' holds other messages`, payloads, this.view.payloads());
  }

  /** The queue has no ready and no unacknowledged messages. @throws ExpectationError */
  toBeEmpty(): void {
    const { ready, unacknowledged } = this.view;
    const nothing = { ready: 0, unacknowledged: 0 };
    this.#same(`queue '${this.view.name}' is not empty`, nothing, { ready, unacknowledged });
  }

  /** These were the outcomes of its messages, in this order: `delivered`, `retried`, `acked` ... @throws ExpectationError */
  toHaveHad(outcomes: readonly string[]): void {
    const actual = this.timeline.outcomesOf(this.view.name);
    const { name, missing } = this.view;
    const what = missing === '' ? `other things became of the messages of queue '${name}'` : missing;
    this.#same(what, outcomes, actual);
  }

  #same(what: string, expected: unknown, actual: unknown): void {
    if (!isDeepStrictEqual(actual, expected)) throw new ExpectationError(what, expected, actual, this.timeline);
  }
}
