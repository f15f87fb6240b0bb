import { acked, type Attempt, failedBy, type Handling, type Outcome, succeeded, undone } from '../../core/handler.js';
import { Outbox } from './outbox.js';

/**
 * The attempt of a handler with an outbox has ended: its message is committed after a success; after a failure what was emitted is
 * dropped.
 * @returns the outcome: a failure if the commit failed
 */
export async function endOutbox(outbox: Outbox, { delivery, context }: Handling, outcome: Outcome): Promise<Outcome> {
  if (outbox.isCommitting) {
    // The handler called ack(), and the server has not answered yet.
    const failure = await new Promise<Error | undefined>((resolve) => outbox.whenCommitted(resolve));
    return failure === undefined || outcome.failed ? outcome : failedBy(failure, context);
  }
  if (outcome.failed || context.isSettled) {
    // Still open: the handler did not settle the message, so it has returned to its queue, and will be handled again.
    const isUndone = !outcome.failed && outbox.isOpen;
    outbox.drop();
    return isUndone ? undone : outcome;
  }
  const failure = await new Promise<Error | undefined>((resolve) => outbox.commit(delivery, resolve));
  return failure === undefined ? acked : failedBy(failure, context);
}

/** True if the message cannot be acked. */
const prevents = (outcome: Outcome): boolean => outcome.failed || outcome.skipped === 'busy';

/**
 * Several handlers of one message, of which one or more have an outbox. The message is committed when all of them have succeeded. The
 * handlers end together: what one of them emitted must not be remembered as done (`@Idempotent`) and then be dropped.
 */
export class OutboxGroup {
  readonly outbox = new Outbox();
  readonly #arrived = new Map<Attempt, Outcome>();
  #decide!: (outcomeOf: (outcome: Outcome) => Outcome) => void;
  readonly #decided = new Promise<(outcome: Outcome) => Outcome>((resolve) => (this.#decide = resolve));

  constructor(private readonly attempts: readonly Attempt[]) {
    // Also those whose handlers are not called, which may have ended before the first one of the others comes here.
    for (const attempt of attempts) {
      attempt.hasEnded = (outcome) => this.#note(attempt, outcome);
      if (attempt.outcome !== undefined) this.#note(attempt, attempt.outcome);
    }
  }

  /** A handler has ended. @returns its outcome, when all have ended and the message is committed or will not be */
  async arrive(attempt: Attempt, outcome: Outcome): Promise<Outcome> {
    this.#note(attempt, outcome);
    const outcomeOf = await this.#decided;
    return outcomeOf(outcome);
  }

  #note(attempt: Attempt, outcome: Outcome): void {
    if (this.#arrived.has(attempt)) return;
    this.#arrived.set(attempt, outcome);
    if (this.#arrived.size === this.attempts.length) void this.#conclude().then(this.#decide);
  }

  async #conclude(): Promise<(outcome: Outcome) => Outcome> {
    const [first] = this.attempts as readonly [Attempt];
    const { outbox } = this;
    if (![...this.#arrived.values()].some(prevents)) {
      const result = await endOutbox(outbox, first, succeeded);
      return (outcome) => (result === succeeded ? outcome : result);
    }
    let isOut = false;
    if (outbox.isCommitting) {
      // A handler called ack(): the commit goes on, and a failure of another handler takes nothing out of it.
      await endOutbox(outbox, first, { failed: true, failure: undefined });
      isOut = outbox.failure === undefined;
    } else outbox.drop();
    return (outcome) => (isOut || prevents(outcome) ? outcome : undone);
  }
}
