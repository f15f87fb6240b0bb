import {
  type End,
  type GroupMember,
  type HandlerGroup,
  type Handling,
  type Outcome,
  succeeded,
  undone,
} from '../../core/handler.js';
import { endOutbox } from './end-of-attempt.js';
import { Outbox } from './outbox.js';

/** True if the message cannot be acked. */
const prevents = (outcome: Outcome): boolean => outcome.failed || outcome.isBusy === true;

/**
 * Several handlers of one message, of which one or more have an outbox. The message is committed when all of them have succeeded. The
 * handlers end together: what one of them emitted must not be remembered as done (`@Idempotent`) and then be dropped.
 */
class OutboxGroup implements HandlerGroup {
  readonly #ended: (readonly [Outcome, End])[] = [];

  constructor(private readonly handlings: readonly Handling[]) {}

  member(end: End): GroupMember {
    let hasArrived = false;
    const arrive = (outcome: Outcome, then: End): void => {
      hasArrived = true;
      if (this.#ended.push([outcome, then]) === this.handlings.length) this.#conclude();
    };
    return { arrive, end: (outcome) => (hasArrived ? end(outcome) : arrive(outcome, end)) };
  }

  #conclude(): void {
    const [first] = this.handlings as readonly [Handling];
    const { outbox } = first;
    const preventing = this.#ended.find(([outcome]) => prevents(outcome));
    if (preventing === undefined) {
      return endOutbox(first, succeeded, (result) => {
        for (const [outcome, end] of this.#ended) end(result === succeeded ? outcome : result);
      });
    }
    if (outbox?.isCommitting === true) {
      // A handler called ack(): the commit goes on, and a failure of another handler takes nothing out of it.
      const failed: Outcome = { failed: true, failure: undefined };
      return endOutbox(first, failed, () => this.#prevented(outbox.failure === undefined));
    }
    outbox?.drop();
    this.#prevented(false);
  }

  /** @param isOut true if what the handlers emitted is published in spite of it */
  #prevented(isOut: boolean): void {
    for (const [outcome, end] of this.#ended) end(isOut || prevents(outcome) ? outcome : undone);
  }
}

/** Gives one outbox to the handlers of a message. */
export function shareOutbox(handlings: readonly Handling[]): void {
  const outbox = new Outbox();
  const group = new OutboxGroup(handlings);
  for (const handling of handlings) {
    handling.outbox = outbox;
    handling.group = group;
  }
}
