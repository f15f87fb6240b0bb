import { AsyncResource } from 'node:async_hooks';
import { attemptOf, fitting } from '../history/index.js';
import type { Failure, LeftOut, RetryOutcome, WaitQueues } from '../retry/index.js';
import { type Backend, type BackendDelivery } from '../backend/index.js';
import { emptyTable, type FieldTable } from '../message/index.js';
import type { SafeProcess, SafeTracing } from '../tracing/index.js';
import type { Hold } from './circuit/circuit.js';
import { Holding } from './circuit/holding.js';
import type { DlxContext } from './context.js';
import { AttemptsExhaustedError } from './attempts-exhausted-error.js';
import { DeliveryTimers } from './delivery-timers.js';
import { Denials } from './denials.js';
import { FailureNotes, type NotedAttempt } from './error-history/failure-notes.js';
import type { EventLog } from './event-log.js';
import { FailureLog, textOf } from './failure-log.js';
import { type HandlerCounts, noCounts } from './handler-counts.js';
import type { HandlerMeter } from './handler-meter.js';
import type { Handling, Outcome, PlannedHandler } from './handler.js';
import { pauseWhileBusy } from './idempotency/guard.js';
import type { ResolvedOptions } from './options.js';
import type { ConsumerPlan } from './plan.js';
import type { OutcomeEvents } from './outcome-events.js';
import { Drop, Park, Reject, RetryLater } from './outcomes.js';
import { Retrying, type Decided } from './retrying.js';
import { errorOf, TracedOutcomes, withSpan } from './traced-outcomes.js';

/** The first pause before another try to republish a message, in milliseconds. It doubles each time. */
const shortestPause = 1_000;

/** The longest pause, after nine minutes in all. Then the message returns to its queue: brokers limit the time of a delivery. */
const longestPause = 256_000;

/** Tries to republish again. @param pause the pause before the next try */
type Again = (pause: number) => void;

/** True if the dead letters of its queue go to the dead-letter exchange of the handler, and not to a wait queue. */
const keepsDeadLetters = ({ handler }: PlannedHandler): boolean =>
  handler.settings.queueArguments.has('x-dead-letter-exchange');

/** A message and its handler, with the span of the attempt if there is one. */
type Taken = Pick<Handling, 'delivery' | 'planned'> & { readonly span?: SafeProcess | undefined };

/** A message whose handler failed. */
interface Failed extends Taken {
  readonly replies: Handling['replies'];
  readonly epoch?: Handling['epoch'];
  /** The error as it was thrown. */
  readonly error: unknown;
  /** The result of Nest's filters, for the client of a request. */
  readonly filtered: unknown;
  /** The context of the handler; undefined if no handler was called. */
  readonly context?: DlxContext;
  /** When the handler began, in milliseconds since 1970. */
  readonly begunAt?: number | undefined;
  /** True if the message was refused before a handler got it. */
  readonly isUnhandled?: true;
}

/**
 * Settles messages by the outcome of their handlers. A success acks. After a failure the exception decides (`RetryLater`, `Park`,
 * `Reject`, `Drop`). For other errors the message is retried if the handler has a policy, and dead-lettered with the reason if not.
 */
export class Settlement {
  readonly counts: HandlerCounts = noCounts();
  /** Queues that dead-letter rejected messages into the wait queue of their policy. */
  rejecting: ReadonlySet<string> = new Set();
  /** Measures the handlers; undefined while metrics are off. */
  meter: HandlerMeter | undefined;
  /** The timers of unsettled messages, those of attempts included. */
  readonly timers: DeliveryTimers;
  readonly #retrying: Retrying;
  readonly #holding: Holding;
  readonly #denials: Denials;
  readonly #log: FailureLog;
  /** The headers that describe failures. */
  readonly notes: FailureNotes;
  /** Undefined without tracing. */
  readonly #traces: TracedOutcomes | undefined;
  #unhooked = false;

  constructor(
    private readonly backend: Backend,
    waitQueues: WaitQueues,
    readonly events: OutcomeEvents,
    options: ResolvedOptions,
    private readonly lines: EventLog,
    tracing: SafeTracing | undefined,
  ) {
    this.#traces = tracing && new TracedOutcomes(tracing, backend);
    this.timers = new DeliveryTimers(backend.clock);
    this.#retrying = new Retrying(waitQueues);
    this.#holding = new Holding(this.#retrying, () => backend.clock.now());
    this.#denials = new Denials(lines);
    this.notes = new FailureNotes(options, backend.clock, lines);
    this.#log = new FailureLog(lines, options.logFailures);
  }

  settle(outcome: Outcome, handling: Handling): void {
    const { delivery, planned, context, replies, epoch, span, outbox, begunAt } = handling;
    if (context.isSettled && outbox?.hasAcked !== true) {
      if (outbox?.failure !== undefined) this.#log.trouble(handling, uncommitted, outbox.failure);
      this.counts.byHand++;
      this.#inform(outcome, handling);
      if (outcome.failed) replies?.error(outcome.failure, doNothing);
      span?.end('by hand', outcome.failed ? errorOf(context.failureOr(outcome.failure)) : undefined);
      return;
    }
    if (!outcome.failed) {
      if (outcome.isBusy === true) return this.postpone(delivery, planned, pauseWhileBusy);
      this.counts.acked++;
      if (epoch !== undefined) planned.circuit?.succeeded(epoch);
      delivery.ack();
      span?.end('acked');
      const { origin } = planned.handler;
      if (this.events.observed) this.events.tell('acked', delivery, { handler: origin, attempt: context.attempt });
      return;
    }
    this.#checkHook(context, planned);
    const filtered = outcome.failure;
    const error = context.failureOr(filtered);
    this.#fail({ delivery, planned, replies, epoch, error, filtered, span, context, begunAt });
  }

  /** Informs the circuit of a message that the handler settled itself. */
  #inform(outcome: Outcome, { delivery, planned, context, epoch }: Handling): void {
    if (epoch === undefined) return;
    if (!outcome.failed) return planned.circuit?.succeeded(epoch);
    this.#holding.decide({ delivery, planned, epoch, error: context.failureOr(outcome.failure) });
  }

  /** Ends the span of one of several handlers, if the outcome of another one settles the message. */
  outvoted(outcome: Outcome, { context, span }: Handling): void {
    if (span === undefined) return;
    if (outcome.failed) span.end('failed', errorOf(context.failureOr(outcome.failure)));
    else span.end('handled');
  }

  /** Settles a message by the outcome of its handler. It never throws. */
  end(outcome: Outcome, handling: Handling): void {
    try {
      this.settle(outcome, handling);
    } catch (fault) {
      this.rescue(handling, fault);
    }
  }

  /** An internal error prevented the settlement. The message returns to its queue after a pause. */
  rescue(taken: Taken, fault: unknown): void {
    const { delivery } = taken;
    const isOver = (): boolean => delivery.settled;
    taken.span?.end('requeued', errorOf(fault));
    if (!isOver()) this.timers.after(shortestPause, isOver, () => delivery.requeue());
    this.#log.trouble(taken, 'could not be settled when its handler ended, and returns unless it was', fault);
  }

  /** Acknowledges a message that was handled before, in this process or another. */
  duplicate(delivery: BackendDelivery, { handler }: PlannedHandler): void {
    this.counts.duplicates++;
    delivery.ack();
    this.events.tell('acked', delivery, { handler: handler.origin });
  }

  /** Sends a message to its queue after a delay, as the same attempt. */
  postpone(delivery: BackendDelivery, planned: PlannedHandler, delay: number, pause = shortestPause): void {
    this.#retrying.postpone(delivery, delay, (failure, leftOut) => {
      if (leftOut !== undefined) this.#log.shortened({ delivery, planned }, leftOut);
      if (failure === undefined) return;
      this.#tryLater({ delivery, planned }, failure, pause, (next) => this.postpone(delivery, planned, delay, next));
    });
  }

  /** Sends a message that came while its circuit is open to its queue, after the pause of the circuit. No handler gets it. */
  wait(delivery: BackendDelivery, planned: PlannedHandler): void {
    const hold = { wait: planned.circuit?.pause ?? 0, isCounted: false };
    this.#hold(
      { delivery, planned, replies: undefined, error: undefined, filtered: undefined, isUnhandled: true },
      hold,
    );
  }

  /** Settles a message after `context.reject()` under a retry policy. */
  rejected(delivery: BackendDelivery, planned: PlannedHandler): void {
    const error = new Reject('its handler called reject()');
    this.#giveUp({ delivery, planned, replies: undefined, error, filtered: error });
  }

  /** Settles a message after `context.requeue()` under a retry policy. */
  requeued(delivery: BackendDelivery, planned: PlannedHandler): void {
    const error = new RetryLater(0, 'its handler called requeue()');
    this.#retry({ delivery, planned, replies: undefined, error, filtered: error });
  }

  /**
   * Parks a message that was delivered although its attempts are used up, without calling a handler. The dead letters of its queue
   * return to the queue, or another consumer rejected it.
   */
  exhausted(delivery: BackendDelivery, planned: PlannedHandler, attempt: number): void {
    const error = new AttemptsExhaustedError(planned.handler.origin, attempt - 1);
    this.#park({ delivery, planned, replies: undefined, error, filtered: error });
  }

  /** Dead-letters a message, with the reason in the headers if the backend can add them. */
  reject(delivery: BackendDelivery, error: unknown, span?: SafeProcess, failed?: Failed): void {
    if (delivery.settled) return span?.end('requeued', errorOf(error));
    this.counts.rejected++;
    const since = this.#traces?.now() ?? 0;
    delivery.reject(
      this.backend.rejectsWithHeaders ? this.#ofRejected(failed ?? { delivery, error }, span) : undefined,
    );
    this.#traces?.rejected({ delivery, error, span }, since);
    const group = this.notes.group('rejected', failed ?? { delivery, error }, this.events);
    this.events.tell('rejected', delivery, { error, ...group });
  }

  /**
   * Dead-letters a message that no handler can take. If its handlers have a retry policy and the queue has no dead-letter exchange
   * of its own, the message is parked: otherwise it would be lost, or return for ever.
   */
  refuse(delivery: BackendDelivery, error: unknown, { handlers }: ConsumerPlan): void {
    const planned = handlers.find(({ retry }) => retry !== undefined);
    if (planned === undefined || keepsDeadLetters(planned)) return this.reject(delivery, error);
    this.#park({ delivery, planned, replies: undefined, error, filtered: error, isUnhandled: true });
  }

  #fail(failed: Failed): void {
    const { delivery, planned, error } = failed;
    if (error instanceof Drop) {
      this.counts.dropped++;
      if (this.meter !== undefined) this.meter.of(planned).dropped++;
      this.#log.dropped(failed, attemptBy(failed), error);
      this.#answer(failed, () => delivery.ack());
      failed.span?.end('dropped');
      this.events.tell('dropped', delivery, { handler: planned.handler.origin, error });
      return;
    }
    this.#denials.note(error, delivery.message, planned.handler.origin);
    const hold = this.#holding.decide(failed);
    if (hold !== undefined) return this.#hold(failed, hold);
    const isAsked = error instanceof Park || error instanceof RetryLater;
    if (isAsked || (planned.retry !== undefined && !(error instanceof Reject))) return this.#retry(failed);
    this.#giveUp(failed);
  }

  /**
   * Ends the attempts of a message: its queue dead-letters it. Under a retry policy the message is parked if the queue has no
   * dead-letter exchange, because it would be lost, and if the exchange leads to the wait queue, because it would return for ever.
   */
  #giveUp(failed: Failed): void {
    const { delivery, planned, error } = failed;
    if (planned.retry !== undefined && !keepsDeadLetters(planned)) return this.#park(failed);
    if (this.meter !== undefined) this.meter.of(planned).rejected++;
    this.#log.last(failed, attemptBy(failed), 'rejected', error);
    this.#answer(failed, () => this.reject(delivery, error, failed.span, failed));
  }

  #park(failed: Failed, pause = shortestPause): void {
    const { delivery, planned, error } = failed;
    const decided = this.#decided(failed, pause, (next) => this.#park(failed, next));
    this.#retrying.park(delivery, planned.retry, { error, ...this.#noted(failed) }, decided);
  }

  /** Holds a message, see {@link Holding}. */
  #hold(failed: Failed, hold: Hold, pause = shortestPause): void {
    const { delivery, planned, span, error, isUnhandled } = failed;
    const own = new AsyncResource('DlxDecision');
    const since = this.#traces?.now() ?? 0;
    const held = (failure?: Error, leftOut?: LeftOut): void => {
      this.#traces?.held(failed, hold.wait, since, failure);
      if (failure !== undefined) {
        return this.#tryLater(failed, failure, pause, (next) => this.#hold(failed, hold, next));
      }
      if (leftOut !== undefined) this.#log.shortened(failed, leftOut);
      this.counts.held++;
      if (this.meter !== undefined) this.meter.of(planned).held++;
      const attempt = attemptBy(failed);
      this.#log.held(failed, attempt, hold.wait, error);
      this.events.tell('held', delivery, { handler: planned.handler.origin, attempt, delay: hold.wait, error });
    };
    const headers = isUnhandled === true ? emptyTable : withSpan(this.notes.ofError(error), span); // no history: it is no attempt
    this.#holding.hold(failed, hold, headers, (...ended) => own.runInAsyncScope(held, undefined, ...ended));
  }

  /** Warns once if the hook is missing: dead letters then have `Internal server error` in place of the error. */
  #checkHook(context: DlxContext, { handler }: PlannedHandler): void {
    if (this.#unhooked || context.hooked || handler.kind === 'consume') return;
    this.#unhooked = true;
    const text =
      `what ${handler.origin} and other handlers throw cannot be seen here: ` +
      'connect the transport with { inheritAppConfig: true }, or apply @UseInterceptors(CaptureErrors)';
    this.lines.tell('errorsUnseen', text, { handler: handler.origin });
  }

  #retry(failed: Failed, pause = shortestPause): void {
    const { delivery, planned, error } = failed;
    const again = (next: number): void => this.#retry(failed, next);
    try {
      const byReject = this.rejecting.has(delivery.queue);
      const { headers, fingerprint } = this.#noted(failed);
      const failure = { error, headers, fingerprint, byReject, ...this.#holding.failed(failed, headers) };
      this.#retrying.decide(delivery, planned.retry, failure, this.#decided(failed, pause, again));
    } catch (fault) {
      this.#tryLater(failed, fault, pause, again);
    }
  }

  /** Reports a decision, which may come in the callback of a disk or socket, in the async context of the message. */
  #decided(failed: Failed, pause: number, again: Again): Decided {
    const own = new AsyncResource('DlxDecision');
    const since = this.#traces?.now() ?? 0;
    const decided: Decided = (outcome, failure, leftOut) => {
      this.#traces?.replaced(failed, outcome, since, failure);
      if (failure !== undefined) return this.#tryLater(failed, failure, pause, again);
      if (leftOut !== undefined) this.#log.shortened(failed, leftOut);
      this.#retried(outcome, failed);
      if (outcome.kind === 'parked') this.#answer(failed, doNothing);
    };
    return (...ended) => own.runInAsyncScope(decided, undefined, ...ended);
  }

  #retried(outcome: RetryOutcome, failed: Failed): void {
    const { delivery, planned, error } = failed;
    const { kind, attempt } = outcome;
    this.counts[kind]++;
    if (this.meter !== undefined) this.meter.of(planned)[kind]++;
    if (kind === 'retried') this.#log.again(failed, attempt, outcome.delay, error);
    else if (failed.isUnhandled === true) this.#log.unhandled(delivery.queue, fateOf(outcome));
    else this.#log.last(failed, attempt, fateOf(outcome), error);
    if (!this.events.hears(kind)) return;
    const detail = kind === 'parked' ? { to: outcome.queue } : { delay: outcome.delay };
    this.events.tell(kind, delivery, {
      handler: planned.handler.origin,
      attempt,
      error,
      ...detail,
      ...this.notes.group(kind, failed, this.events),
    });
  }

  /**
   * The broker refused the successor in the wait queue or the parking lot. A reject could lose the message, and a requeue would not
   * count as an attempt. So the message stays unacknowledged, and the publish is tried again after a pause, which grows. After nine
   * minutes without success the message returns to its queue.
   */
  #tryLater(taken: Taken, failure: unknown, pause: number, again: Again): void {
    if (taken.delivery.settled) {
      taken.span?.end('requeued', errorOf(failure));
      // Its channel has ended, or the disk of the broker failed after the message was replaced.
      return this.#log.trouble(taken, 'may not have been republished, and cannot be settled any more', failure);
    }
    const isOver = pause > longestPause;
    const next = isOver ? 'returns to its queue' : `stays unacknowledged and is republished again in ${pause} ms`;
    this.#log.trouble(taken, `cannot be republished and ${next}`, failure);
    if (isOver) {
      taken.span?.end('requeued', errorOf(failure));
      return taken.delivery.requeue();
    }
    const isSettled = (): boolean => taken.delivery.settled;
    this.timers.after(pause, isSettled, () => {
      if (!isSettled()) again(pause * 2); // a settled message has returned to its queue
    });
  }

  /** The headers of a failure, and the fingerprint of a message that is parked. */
  #noted(failed: Failed): Pick<Failure, 'headers' | 'fingerprint'> {
    const headers = withSpan(this.notes.headers(failed), failed.span);
    return { headers, fingerprint: () => this.notes.fingerprint(failed) };
  }

  #ofRejected(failed: NotedAttempt, span: SafeProcess | undefined): FieldTable {
    return fitting(failed.delivery.message.own.headers, withSpan(this.notes.ofRejected(failed), span));
  }

  /** Sends the error to the client of a request, and then settles the message. */
  #answer({ replies, filtered }: Failed, settled: () => void): void {
    if (replies === undefined) settled();
    else replies.error(filtered, settled);
  }
}

/** The disk of the broker failed after the commit, or the channel ended in it. */
const uncommitted = 'was handled, but it is unknown whether it was settled, and what it emitted published';

const attemptBy = ({ delivery }: Taken): number => attemptOf(delivery.message, delivery.queue);

function fateOf(outcome: RetryOutcome & { readonly kind: 'parked' }): string {
  const fate = `parked in '${outcome.queue}'`;
  if (outcome.why === 'headers') return `${fate}, because its headers have no room for another attempt`;
  return outcome.why === 'policy' ? `${fate}, because its policy failed (${textOf(outcome.fault)})` : fate;
}

const doNothing = (): void => undefined;
