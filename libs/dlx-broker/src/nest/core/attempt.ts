import { AsyncResource } from 'node:async_hooks';
import { isObservable, type Observable } from 'rxjs';
import type { BackendDelivery, Done } from '../../backends/index.js';
import { doNothing } from '../../platform/index.js';
import { type ReplyPublisher, type ReplyStream, UnreadableValueError } from '../client/reply-publisher.js';
import { FilteredFailure } from '../handlers/capture.js';
import type { EventLog } from '../log/event-log.js';
import type { AttemptWatch, WatchedAttempt } from './attempt-watch.js';
import type { DlxContext } from './context.js';
import { errorFacts, stackOf, textOf } from './failure-log.js';
import { readable } from './failure.js';
import type { Ended } from './handler-meter.js';
import { type Arrival, type Attempt, failedBy, type Outcome, type PlannedHandler, succeeded } from './handler.js';
import type { Settlement } from './settlement.js';

/**
 * Calls a function between the hooks that tracing tools set on a transport.
 * @returns undefined without hooks; otherwise a promise that rejects when one of them fails
 */
export type Processing = (context: DlxContext, run: (end: () => void) => void) => Promise<void> | undefined;

/** Notes which calls of handlers are under way, once the application asks for that. */
export interface CallScope {
  readonly isUsed: boolean;
  /** Runs a handler. @param handle gets a function to be called when the handler has ended */
  run(queue: string, handle: (ended: () => void) => void): void;
}

/** What attempts need of their application. */
export interface AttemptParts {
  readonly settlement: Pick<Settlement, 'byHand' | 'reports' | 'events' | 'end' | 'rescue' | 'outvoted'>;
  readonly processing: Processing;
  readonly log: EventLog;
  readonly scope: CallScope;
  readonly watch: Pick<AttemptWatch, 'begin' | 'end' | 'takenBack' | 'interrupted'>;
}

/**
 * One attempt of one handler: the steps of the handler, and inside of them its call between the hooks, to the end of its result: a value,
 * a promise or a stream. An empty stream is a success. A request is answered meanwhile, and ends when its last reply was published.
 */
export class AttemptRun implements Attempt, WatchedAttempt, ReplyStream {
  readonly delivery: BackendDelivery;
  readonly own: AsyncResource;
  begunAt = 0;
  isKnown = false;
  older: WatchedAttempt | undefined;
  younger: WatchedAttempt | undefined;
  /** The attempts of all handlers that have the message; undefined if this is the only one. */
  sharing: readonly Attempt[] | undefined;
  outcome: Outcome | undefined;
  hasEnded: ((outcome: Outcome) => void) | undefined;
  leave: ((then: () => void) => void) | undefined;
  isOver = false;
  #ended!: (outcome: Outcome) => void;
  /** The async context in which hooks and steps call the handler; undefined without any. */
  #within: AsyncResource | undefined;
  /** Called when the call has ended; undefined before it has begun. */
  #processed: (() => void) | undefined;
  #measured: Ended | undefined;
  /** Leaves the scope of the handler. */
  #left: (() => void) | undefined;
  /** True when nothing of the result is awaited any more but the answer to the last reply. */
  #isTaken = false;
  #subscription: { unsubscribe?(): void } | undefined;

  constructor(
    private readonly parts: AttemptParts,
    { delivery, own }: Arrival,
    readonly planned: PlannedHandler,
    readonly context: DlxContext,
    readonly replies: ReplyPublisher | undefined,
    readonly data: unknown,
  ) {
    this.delivery = delivery;
    this.own = own;
  }

  /** Runs the only handler of a message. Its outcome settles the message. @param ended called then, and also after a bug of a step */
  runAlone(ended: (attempt: this) => void): void {
    const { delivery, planned, context } = this;
    const { settlement } = this.parts;
    if (settlement.events.observed) {
      settlement.events.emit('delivered', delivery, { handler: planned.handler.origin, attempt: context.attempt });
    }
    this.run(
      (outcome) => {
        this.#inContext(() => settlement.end(outcome, this));
        ended(this);
      },
      (fault) => {
        settlement.rescue(this, fault);
        ended(this);
      },
    );
  }

  /**
   * Takes the steps of the handler, and calls it.
   * @param ended called with the outcome; a handler without steps needs no promise for it
   * @param broken called instead if a step has a bug
   */
  run(ended: (outcome: Outcome) => void, broken: (fault: unknown) => void): void {
    const failure = this.parts.watch.takenBack(this);
    if (failure !== undefined) {
      this.context.markHooked(); // no handler is called, so the hook is not missing
      return ended(failedBy(failure, this.context));
    }
    const { step } = this.planned;
    if (step === undefined) return this.#call(ended);
    step(this, () => new Promise((resolve) => this.#call(resolve)))
      .then(ended)
      .catch(broken);
  }

  /** Ends the call: its stream is unsubscribed, and what the handler does later has no effect. */
  end(outcome: Outcome): void {
    if (this.isOver) return; // an observable of another library may end twice, and a handler after its time limit
    this.isOver = true;
    if (this.#processed !== undefined) this.parts.watch.end(this);
    this.#left?.();
    this.#measured?.(outcome.failed);
    if (!this.#isTaken) this.#leave();
    try {
      this.#processed?.();
    } catch (error) {
      this.#log('endFailed', 'the end of an attempt', error, stackOf(error));
    }
    this.#ended(outcome);
  }

  /** Calls a function in the async context of the handler, for the settlement and those that hear of it. */
  #inContext(then: () => void): void {
    const { leave } = this;
    const call = leave === undefined ? then : () => leave(then);
    if (this.#within === undefined) call();
    else this.#within.runInAsyncScope(call);
  }

  /** Calls the handler between the hooks. Every rejection of a hook is handled here: an unhandled one would end the process. */
  #call(ended: (outcome: Outcome) => void): void {
    const { planned, context } = this;
    const { settlement, processing } = this.parts;
    this.#ended = ended;
    context.plan(planned, planned.retry && settlement);
    const hooks = processing(context, (processed) => this.#begin(processed));
    hooks?.catch((error: unknown) => {
      const failure = readable(error);
      if (this.#processed !== undefined) return this.#log('hookFailed', 'a processing hook', failure);
      this.isOver = true; // the handler was never called: this is a failed attempt like others
      ended(failedBy(failure, context));
    });
  }

  #begin(processed: () => void): void {
    if (this.isOver || this.#processed !== undefined) return processed(); // the hook failed before, was too late, or called it twice
    this.#processed = processed;
    const { planned } = this;
    const { settlement, scope, watch } = this.parts;
    if (planned.step !== undefined || processed !== doNothing) this.#within = new AsyncResource('DlxAttempt');
    this.context.begunAt = watch.begin(this);
    this.#measured = settlement.reports.meter?.begin(planned);
    if (!scope.isUsed) return this.#invoke();
    scope.run(planned.queue, (left) => {
      this.#left = left;
      this.#invoke();
    });
  }

  #invoke(): void {
    try {
      const { handler, invoke = handler.invoke } = this.planned;
      invoke(this.data, this.context).then(
        (result) => this.#take(result),
        (failure: unknown) => this.#fail(failure),
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Where the values go: the handlers that share a message answer it together, when all of them have ended. */
  get #answers(): ReplyPublisher | undefined {
    return this.sharing === undefined ? this.replies : undefined;
  }

  next(value: unknown): void {
    if (this.#isTaken) return;
    let isFiltered: boolean;
    try {
      isFiltered = value instanceof FilteredFailure;
    } catch (error) {
      return this.faulty(new UnreadableValueError(error)); // RxJS would throw it in a timer, which ends the process
    }
    if (isFiltered) this.error((value as FilteredFailure).failure);
    else this.#answers?.next(value);
  }

  error(failure: unknown): void {
    if (!this.#isTaken && this.#leave()) this.#fail(failure);
  }

  complete(): void {
    if (this.#isTaken || !this.#leave()) return;
    const answers = this.#answers;
    if (answers === undefined) this.end(succeeded);
    else answers.complete(this.#published());
  }

  gone(): void {
    if (!this.#isTaken && this.#leave()) this.end(succeeded);
  }

  faulty(failure: Error): void {
    if (!this.#isTaken && this.#leave()) this.end(failedBy(failure, this.context));
  }

  #take(result: unknown): void {
    if (this.#isTaken) return;
    let stream: Observable<unknown> | undefined;
    let filtered: FilteredFailure | undefined;
    try {
      if (isObservable(result)) stream = result;
      else if (result instanceof FilteredFailure) filtered = result;
    } catch (error) {
      return this.faulty(new UnreadableValueError(error));
    }
    if (stream !== undefined) return this.#follow(stream);
    this.#isTaken = true;
    const answers = this.#answers;
    if (filtered !== undefined) this.#fail(filtered.failure);
    else if (answers === undefined) this.end(succeeded);
    else answers.only(result, this.#published());
  }

  #follow(stream: Observable<unknown>): void {
    this.#answers?.begin(this);
    try {
      this.#subscription = stream.subscribe(this);
    } catch (error) {
      this.error(error); // an observable of another library may throw on subscribe
    }
    if (this.#isTaken) this.#unsubscribe();
    else this.#answers?.watch();
  }

  /** Unsubscribes the stream. @returns false if that failed, which is the outcome then */
  #leave(): boolean {
    this.#isTaken = true;
    this.#answers?.unwatch();
    return this.#unsubscribe();
  }

  #unsubscribe(): boolean {
    try {
      this.#subscription?.unsubscribe?.();
      return true;
    } catch (failure) {
      this.#fail(failure); // the code that runs on unsubscribe belongs to the handler
      return false;
    }
  }

  /** The settlement answers a failed request, because it may be retried first. */
  #fail(failure: unknown): void {
    this.end({ failed: true, failure });
  }

  /** A function for the outcome of the last reply. */
  #published(): Done {
    return (failure) => this.end(failure === undefined ? succeeded : failedBy(failure, this.context));
  }

  #log(event: 'hookFailed' | 'endFailed', what: string, error: unknown, stack?: string): void {
    const { origin } = this.planned.handler;
    const text = `${origin}: ${what} failed: ${textOf(error)}`;
    this.parts.log.write(event, text, { handler: origin, ...errorFacts(error) }, stack);
  }
}
