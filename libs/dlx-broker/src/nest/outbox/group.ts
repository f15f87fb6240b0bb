import {
  type End,
  type GroupMember,
  type HandlerGroup,
  type Handling,
  type Outcome,
  succeeded,
  undone,
} from '../handler.js';
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
    if (this.#ended.some(([outcome]) => prevents(outcome))) {
      first.outbox?.drop();
      for (const [outcome, end] of this.#ended) end(prevents(outcome) ? outcome : undone);
      return;
    }
    endOutbox(first, succeeded, (result) => {
      for (const [outcome, end] of this.#ended) end(result === succeeded ? outcome : result);
    });
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
