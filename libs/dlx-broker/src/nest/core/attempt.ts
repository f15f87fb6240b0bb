import { AsyncResource } from 'node:async_hooks';
import { doNothing } from '../../platform/index.js';
import type { HandlerScope } from '../features/circuit/handler-scope.js';
import type { AttemptWatch, WatchedAttempt } from './attempt-watch.js';
import type { DlxContext } from './context.js';
import type { EventLog } from '../log/event-log.js';
import { errorFacts, stackOf, textOf } from './failure-log.js';
import { readable } from './failure.js';
import type { End, Handling, Outcome } from './handler.js';
import type { Ended } from './handler-meter.js';
import { HandlerTimeoutError } from './handler-timeout-error.js';
import type { ReplyPublisher } from '../client/reply-publisher.js';
import { HandlerRun } from './run.js';
import type { Settlement } from './settlement.js';

/**
 * Calls a function between the hooks that tracing tools set on a transport.
 * @returns undefined without hooks; otherwise a promise that rejects when one of them fails
 */
export type Processing = (context: DlxContext, run: (end: () => void) => void) => Promise<void> | undefined;

/** What attempts need of their application. */
export interface AttemptParts {
  readonly settlement: Settlement;
  readonly processing: Processing;
  readonly log: EventLog;
  readonly scope: HandlerScope;
  readonly watch: Pick<AttemptWatch, 'begin' | 'end'>;
}

/** One attempt of a handler: its call between the hooks, within the time limit. */
export class Attempt extends HandlerRun implements WatchedAttempt {
  begunAt = 0;
  isKnown = false;
  older: WatchedAttempt | undefined;
  younger: WatchedAttempt | undefined;
  /** Called when the attempt has ended; undefined before it has begun. */
  #processed: (() => void) | undefined;
  #measured: Ended | undefined;
  /** Stops the timer. */
  #cancel: (() => void) | undefined;
  /** Leaves the scope of the handler. */
  #left: (() => void) | undefined;
  #hasEnded = false;

  constructor(
    private readonly parts: AttemptParts,
    readonly handling: Handling,
    private readonly data: unknown,
    replies: ReplyPublisher | undefined,
    private readonly ended: End,
  ) {
    super(handling.context, replies);
  }

  /** Calls the handler. Every rejection of its promise is handled here: an unhandled one would end the process. */
  begin(): void {
    const { planned, context } = this.handling;
    const { settlement, processing } = this.parts;
    context.plan(planned, planned.retry && settlement);
    const hooks = processing(context, (processed) => this.#call(processed));
    hooks?.catch((error: unknown) => {
      const failure = readable(error);
      if (this.#processed !== undefined) return this.#log('hookFailed', 'a processing hook', failure);
      this.#processed = doNothing; // the handler was never called: this is a failed attempt like others
      context.capture(failure);
      this.ended({ failed: true, failure });
    });
  }

  #call(processed: () => void): void {
    if (this.#processed !== undefined) return processed(); // its hook failed before, or called it twice
    this.#processed = processed;
    const { handling, data } = this;
    const { planned } = handling;
    const { settlement, scope, watch } = this.parts;
    handling.begunAt = settlement.notes.begin();
    watch.begin(this, handling.begunAt);
    this.#measured = settlement.meter?.begin(planned);
    const milliseconds = planned.retry?.timeout;
    if (milliseconds !== undefined) this.#limit(milliseconds);
    if (!scope.isUsed) return this.run(planned, data);
    scope.run(planned.queue, (left) => {
      this.#left = left;
      this.run(planned, data);
    });
  }

  protected override end(outcome: Outcome): void {
    if (this.#hasEnded) return; // an observable of another library may end twice, and a handler after its time limit
    this.#hasEnded = true;
    this.parts.watch.end(this);
    this.#left?.();
    this.#measured?.(outcome.failed);
    this.#cancel?.();
    this.stop();
    try {
      this.#processed?.();
    } catch (error) {
      this.#endFailed(error);
    }
    try {
      this.ended(outcome);
    } catch (error) {
      this.#endFailed(error);
      if (!this.handling.context.isSettled) this.parts.settlement.rescue(this.handling, error, outcome.failed);
    }
  }

  /** Starts the timer of the attempt. */
  #limit(milliseconds: number): void {
    const { context, planned } = this.handling;
    const tooLate = (): void => {
      const failure = new HandlerTimeoutError(planned.handler.origin, milliseconds);
      context.capture(failure);
      context.abort(failure);
      this.end({ failed: true, failure });
    };
    // Listeners of the abort run in the async context of this message, and not in that of the timer.
    const attempt = new AsyncResource('DlxAttempt');
    this.#cancel = this.parts.settlement.timers.after(
      milliseconds,
      () => context.isSettled,
      () => attempt.runInAsyncScope(tooLate),
    );
  }

  #endFailed(error: unknown): void {
    this.#log('endFailed', 'the end of an attempt', error, stackOf(error));
  }

  #log(event: 'hookFailed' | 'endFailed', what: string, error: unknown, stack?: string): void {
    const { origin } = this.handling.planned.handler;
    this.parts.log.write(
      event,
      `${origin}: ${what} failed: ${textOf(error)}`,
      { handler: origin, ...errorFacts(error) },
      stack,
    );
  }
}
