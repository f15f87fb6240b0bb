import type { Clock } from '../../../engine/broker/index.js';
import { after } from '../../../platform/index.js';
import type { Outgoing } from './outgoing.js';

/** Publishes that fail in one turn of the event loop. For each of them the application may write a line of its log. */
export const failedInTurn = 128;

/** Publishes whose failure is known. The first ones of a turn fail at once, the others in later turns and in their order. */
export class Failing {
  #waiting: Outgoing[] = [];
  #count = 0;
  #isScheduled = false;

  /** @param end reports the failure of a publish, unless it is over */
  constructor(
    private readonly clock: Clock,
    private readonly end: (outgoing: Outgoing, failure: Error) => void,
  ) {}

  add(outgoing: Outgoing, failure: Error): void {
    outgoing.failure = failure;
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      after(this.clock, 0, this.#turn);
    }
    if (this.#count++ < failedInTurn) this.end(outgoing, failure);
    else this.#waiting.push(outgoing);
  }

  readonly #turn = (): void => {
    const due = this.#waiting.splice(0, failedInTurn);
    this.#count = due.length;
    this.#isScheduled = due.length > 0;
    if (this.#isScheduled) after(this.clock, 0, this.#turn);
    for (const outgoing of due) this.end(outgoing, outgoing.failure as Error);
  };
}
