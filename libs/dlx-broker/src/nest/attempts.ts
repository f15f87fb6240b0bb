import type { Logger } from '@nestjs/common';
import { AsyncResource } from 'node:async_hooks';
import type { DlxContext } from './context.js';
import { stackOf, textOf } from './failure-log.js';
import { readable } from './failure.js';
import { succeeded, type Handling, type Outcome, type PlannedHandler } from './handler.js';
import { HandlerTimeoutError } from './handler-timeout-error.js';
import { pauseWhileBusy, type IdempotencyGuard } from './idempotency/guard.js';
import { RetryLater } from './outcomes.js';
import type { Replies } from './replies.js';
import { runHandler } from './run.js';
import type { Settlement } from './settlement.js';

/**
 * Runs something between the hooks that tracing tools set on a transport.
 * @returns where there are hooks what rejects when one of them fails
 */
export type Processing = (context: DlxContext, run: (end: () => void) => void) => Promise<void> | undefined;

/** Gives a message to a handler: within its time, between the hooks, and only if it was not handled before. */
export class Attempts {
  constructor(
    private readonly settlement: Settlement,
    private readonly guard: IdempotencyGuard,
    private readonly processing: Processing,
    private readonly logger: Logger,
  ) {}

  /** One handler has the message to itself, which is settled by the outcome. */
  single(handling: Handling, data: unknown, settled: () => void): void {
    const { delivery, planned, context, replies } = handling;
    const { events } = this.settlement;
    if (events.observed) {
      events.tell('delivered', delivery, { handler: planned.handler.origin, attempt: context.attempt });
    }
    const end = (outcome: Outcome): void => {
      this.settlement.end(outcome, handling);
      settled();
    };
    if (planned.handler.settings.idempotence === undefined) return this.#run(planned, data, context, replies, end);
    const skip = (claim: 'busy' | 'done'): void => {
      if (claim === 'done') this.settlement.duplicate(delivery, planned);
      else this.settlement.postpone(delivery, planned, pauseWhileBusy);
      settled();
    };
    const run = (ended: (outcome: Outcome) => void): void => this.#run(planned, data, context, replies, ended);
    this.guard.pass(planned, data, context, run, skip, end);
  }

  /** Several handlers have the message; the caller settles it when all have ended. */
  shared(planned: PlannedHandler, data: unknown, context: DlxContext, end: (outcome: Outcome) => void): void {
    const run = (ended: (outcome: Outcome) => void): void => this.#run(planned, data, context, undefined, ended);
    const later = { failed: true, failure: new RetryLater(pauseWhileBusy) } as const;
    this.guard.pass(planned, data, context, run, (claim) => end(claim === 'done' ? succeeded : later), end);
  }

  /** Whatever goes wrong in here, the promise of a handler must not reject unseen: that would end the process. */
  #run(
    planned: PlannedHandler,
    data: unknown,
    context: DlxContext,
    replies: Replies | undefined,
    end: (outcome: Outcome) => void,
  ): void {
    let begun = false;
    let ended = false;
    context.plan(planned, planned.retry && this.settlement);
    const hooks = this.processing(context, (processed) => {
      if (begun) return processed(); // its hook had failed before, or runs it twice
      begun = true;
      const finish = (outcome: Outcome): void => {
        if (ended) return; // a stream that is not of rxjs may end twice, and a handler after its time
        ended = true;
        callOff?.();
        running.stop?.();
        for (const step of [processed, () => end(outcome)]) {
          try {
            step();
          } catch (error) {
            this.logger.error(
              `${planned.handler.origin}: the end of an attempt failed: ${textOf(error)}`,
              stackOf(error),
            );
          }
        }
      };
      const running: { stop?: () => void } = {};
      const callOff = this.#limit(planned, context, finish);
      running.stop = runHandler(planned, data, context, replies, finish);
    });
    hooks?.catch((error: unknown) => {
      const failure = readable(error);
      if (begun) return this.logger.error(`${planned.handler.origin}: a processing hook failed: ${textOf(failure)}`);
      begun = true; // the handler never had the message: a failed attempt as any other
      context.capture(failure);
      end({ failed: true, failure });
    });
  }

  /** @returns what calls it off, if the policy limits the time of an attempt */
  #limit(planned: PlannedHandler, context: DlxContext, finish: (outcome: Outcome) => void): (() => void) | undefined {
    const milliseconds = planned.retry?.timeout;
    if (milliseconds === undefined) return undefined;
    const tooLate = (): void => {
      const failure = new HandlerTimeoutError(planned.handler.origin, milliseconds);
      context.capture(failure);
      context.abort(failure);
      finish({ failed: true, failure });
    };
    // What listens for the abort belongs to this message, and not to where the clock rings.
    const attempt = new AsyncResource('DlxAttempt');
    const { timers } = this.settlement;
    return timers.after(
      milliseconds,
      () => context.isSettled,
      () => attempt.runInAsyncScope(tooLate),
    );
  }
}
