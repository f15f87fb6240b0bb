import { AsyncResource } from 'node:async_hooks';
import type { SafeProcess, SafeTracing } from '../tracing/index.js';
import type { HandlerScope } from './circuit/handler-scope.js';
import type { DlxContext } from './context.js';
import type { EventLog } from './event-log.js';
import { errorFacts, stackOf, textOf } from './failure-log.js';
import { readable } from './failure.js';
import { busy, type End, succeeded, type Handling, type Outcome, type PlannedHandler } from './handler.js';
import { HandlerTimeoutError } from './handler-timeout-error.js';
import { pauseWhileBusy, type IdempotencyGuard } from './idempotency/guard.js';
import { endOutbox } from './outbox/end-of-attempt.js';
import { Collector } from './outbox/collector.js';
import { Outbox } from './outbox/outbox.js';
import type { OutboxScope } from './outbox/scope.js';
import type { Replies } from './replies.js';
import { runHandler } from './run.js';
import type { Settlement } from './settlement.js';

/**
 * Calls a function between the hooks that tracing tools set on a transport.
 * @returns undefined without hooks; otherwise a promise that rejects when one of them fails
 */
export type Processing = (context: DlxContext, run: (end: () => void) => void) => Promise<void> | undefined;

/** Gives a message to a handler: within the time limit, between the hooks, and only if it was not handled before. */
export class Attempts {
  constructor(
    private readonly settlement: Settlement,
    private readonly guard: IdempotencyGuard,
    private readonly processing: Processing,
    private readonly log: EventLog,
    private readonly tracing: SafeTracing | undefined,
    private readonly outboxes: OutboxScope,
    private readonly scope: HandlerScope,
  ) {}

  /** Runs the only handler of a message. Its outcome settles the message. */
  single(handling: Handling, data: unknown, settled: () => void): void {
    const { delivery, planned, context, replies } = handling;
    const { events } = this.settlement;
    if (events.observed) {
      events.emit('delivered', delivery, { handler: planned.handler.origin, attempt: context.attempt });
    }
    const end = (outcome: Outcome): void => {
      this.settlement.end(outcome, handling);
      settled();
    };
    if (planned.outbox !== undefined) handling.outbox = new Outbox();
    if (planned.handler.settings.idempotence === undefined) return this.#run(handling, data, replies, end);
    const skip = (claim: 'busy' | 'done'): void => {
      if (claim === 'done') {
        this.settlement.duplicate(delivery, planned);
        replies?.complete(doNothing); // a packet of Nest may ask a handler of events
      } else this.settlement.postpone(delivery, planned, pauseWhileBusy);
      settled();
    };
    const run = (ended: (outcome: Outcome) => void): void => this.#run(handling, data, replies, ended);
    this.guard.pass(planned, data, context, run, skip, end);
  }

  /** Runs one of several handlers of a message. The caller settles the message when all have ended. */
  shared(handling: Handling, data: unknown, end: (outcome: Outcome) => void): void {
    const { planned, context } = handling;
    const member = handling.group?.member(end);
    const last = member?.end ?? end;
    const run = (ended: End): void =>
      this.#run(handling, data, undefined, member ? (outcome) => member.arrive(outcome, ended) : ended);
    this.guard.pass(planned, data, context, run, (claim) => last(claim === 'done' ? succeeded : busy), last);
  }

  /** Runs a handler, with its outbox if it has one. */
  #run(handling: Handling, data: unknown, replies: Replies | undefined, end: End): void {
    const { planned, outbox, context } = handling;
    if (outbox === undefined || planned.outbox === undefined) return this.#traced(handling, data, replies, end);
    const { origin } = planned.handler;
    const collector = new Collector(outbox, planned.outbox, origin, context.message.own.messageId);
    context.collect(collector);
    replies?.hold(outbox);
    const ended: End = (outcome) => {
      collector.close();
      this.outboxes.leave(() => (handling.group === undefined ? endOutbox(handling, outcome, end) : end(outcome)));
    };
    this.outboxes.run(collector, () => this.#traced(handling, data, replies, ended));
  }

  /** Runs a handler inside its span, if there is tracing. */
  #traced(handling: Handling, data: unknown, replies: Replies | undefined, end: End): void {
    const span = this.tracing && startSpan(this.tracing, handling);
    if (span === undefined) return this.#attempt(handling, data, replies, end);
    handling.span = span;
    const ended: End = (outcome) => {
      span.handled();
      end(outcome);
    };
    span.run(() => this.#attempt(handling, data, replies, ended));
  }

  /** Calls a handler. Every rejection of its promise is handled here: an unhandled one would end the process. */
  #attempt(handling: Handling, data: unknown, replies: Replies | undefined, end: End): void {
    const { planned, context } = handling;
    let begun = false;
    let ended = false;
    context.plan(planned, planned.retry && this.settlement);
    const hooks = this.processing(context, (processed) => {
      if (begun) return processed(); // its hook failed before, or called it twice
      begun = true;
      handling.begunAt = this.settlement.notes.begin();
      const measured = this.settlement.meter?.begin(planned);
      const finish = (outcome: Outcome): void => {
        if (ended) return; // an observable of another library may end twice, and a handler may end after its time limit
        ended = true;
        leave?.();
        measured?.(outcome.failed);
        cancel?.();
        stop();
        try {
          processed();
        } catch (error) {
          this.#endFailed(planned, error);
        }
        try {
          end(outcome);
        } catch (error) {
          this.#endFailed(planned, error);
        }
      };
      let stop = doNothing;
      let leave: (() => void) | undefined;
      const cancel = this.#limit(planned, context, finish);
      if (!this.scope.isUsed) stop = runHandler(planned, data, context, replies, finish);
      else {
        stop = this.scope.run(planned.queue, (left) => {
          leave = left;
          return runHandler(planned, data, context, replies, finish);
        });
      }
    });
    hooks?.catch((error: unknown) => {
      const failure = readable(error);
      if (begun) return this.#hookFailed(planned, failure);
      begun = true; // the handler was never called: this is a failed attempt like others
      context.capture(failure);
      end({ failed: true, failure });
    });
  }

  #hookFailed({ handler: { origin } }: PlannedHandler, error: unknown): void {
    const text = `${origin}: a processing hook failed: ${textOf(error)}`;
    this.log.write('hookFailed', text, { handler: origin, ...errorFacts(error) });
  }

  #endFailed({ handler: { origin } }: PlannedHandler, error: unknown): void {
    const text = `${origin}: the end of an attempt failed: ${textOf(error)}`;
    this.log.write('endFailed', text, { handler: origin, ...errorFacts(error) }, stackOf(error));
  }

  /** Starts the timer of an attempt. @returns a function that stops it; undefined if the policy has no time limit */
  #limit(planned: PlannedHandler, context: DlxContext, finish: (outcome: Outcome) => void): (() => void) | undefined {
    const milliseconds = planned.retry?.timeout;
    if (milliseconds === undefined) return undefined;
    const tooLate = (): void => {
      const failure = new HandlerTimeoutError(planned.handler.origin, milliseconds);
      context.capture(failure);
      context.abort(failure);
      finish({ failed: true, failure });
    };
    // Listeners of the abort run in the async context of this message, and not in that of the timer.
    const attempt = new AsyncResource('DlxAttempt');
    const { timers } = this.settlement;
    return timers.after(
      milliseconds,
      () => context.isSettled,
      () => attempt.runInAsyncScope(tooLate),
    );
  }
}

const startSpan = (tracing: SafeTracing, { delivery, planned, context }: Handling): SafeProcess | undefined =>
  tracing.startProcess({
    message: delivery.message,
    queue: delivery.queue,
    handler: planned.handler.origin,
    attempt: context.attempt,
    metadata: context.dispatched(),
  });

const doNothing = (): void => undefined;
