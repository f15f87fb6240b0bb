import type { Backend, BackendDelivery } from '../../backends/index.js';
import type { FieldTable } from '../../engine/message/index.js';
import { fitting } from '../../platform/history/index.js';
import { doNothing } from '../../platform/index.js';
import { Holding } from '../features/circuit/holding.js';
import { FailureNotes, type NotedAttempt } from '../features/error-history/failure-notes.js';
import { pauseWhileBusy } from '../features/idempotent/guard.js';
import type { EventLog } from '../log/event-log.js';
import type { ResolvedOptions } from '../module/options.js';
import type { WaitQueues } from '../retry/index.js';
import type { SafeProcess, SafeTracing } from '../tracing/index.js';
import type { DlxContext } from './context.js';
import { DeliveryTimers } from './delivery-timers.js';
import { Denials } from './denials.js';
import { answer, attemptBy, type Failed, type Taken } from './failed-message.js';
import { FailureLog } from './failure-log.js';
import { readable, UnsettledFailureError } from './failure.js';
import { type HandlerCounts, noCounts } from './handler-counts.js';
import type { HandlerMeter } from './handler-meter.js';
import type { Handling, Outcome, PlannedHandler } from './handler.js';
import type { OutcomeEvents } from './outcome-events.js';
import { Drop, Park, Reject, RetryLater } from './outcomes.js';
import type { ConsumerPlan } from './plan.js';
import { Republishing, type SettlementState, shortestPause } from './republishing.js';
import { Retrying, waitAskedBy } from './retrying.js';
import { Settling } from './settling.js';
import { errorOf, TracedOutcomes, withSpan } from './traced-outcomes.js';

/** A message was delivered although its attempts are used up. */
export class AttemptsExhaustedError extends Error {
  override readonly name = 'AttemptsExhaustedError';

  constructor(origin: string, attempts: number) {
    super(`${origin} is not asked any more: the message failed ${attempts} times`);
  }
}

/** True if the dead letters of its queue go to the dead-letter exchange of the handler, and not to a wait queue. */
const keepsDeadLetters = ({ handler }: PlannedHandler): boolean =>
  handler.settings.queueArguments.has('x-dead-letter-exchange');

/**
 * Settles messages by the outcome of their handlers. A success acks. After a failure the exception decides (`RetryLater`, `Park`,
 * `Reject`, `Drop`). For other errors the message is retried if the handler has a policy, and dead-lettered with the reason if not.
 */
export class Settlement implements SettlementState {
  readonly counts: HandlerCounts = noCounts();
  rejecting: ReadonlySet<string> = new Set();
  meter: HandlerMeter | undefined;
  readonly timers: DeliveryTimers;
  readonly settling = new Settling();
  readonly #republishing: Republishing;
  readonly #holding: Holding;
  readonly #denials: Denials;
  readonly #log: FailureLog;
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
    const retrying = new Retrying(waitQueues);
    this.#holding = new Holding(retrying, () => backend.clock.now());
    this.#denials = new Denials(lines);
    this.notes = new FailureNotes(options, backend.clock, lines, backend.now);
    this.#log = new FailureLog(lines, options.logFailures);
    this.#republishing = new Republishing(this, retrying, this.#holding, this.#log, this.#traces);
  }

  settle(outcome: Outcome, handling: Handling): void {
    const { delivery, planned, context, replies, epoch, span, outbox, begunAt } = handling;
    if (context.isSettled && outbox?.hasAcked !== true) {
      if (outbox?.failure !== undefined) this.#log.trouble(handling, uncommitted, outbox.failure);
      const isByHand = context.isSettledByHand;
      if (isByHand) {
        this.counts.byHand++;
        if (outcome.failed)
          this.#log.last(handling, context.attempt, settledBefore, context.failureOr(outcome.failure));
      }
      this.#inform(outcome, handling);
      if (outcome.failed) replies?.error(outcome.failure, doNothing);
      span?.end(
        isByHand ? 'by hand' : 'requeued',
        outcome.failed ? errorOf(context.failureOr(outcome.failure)) : undefined,
      );
      return;
    }
    if (!outcome.failed) {
      if (outcome.isBusy === true) return this.postpone(delivery, planned, pauseWhileBusy);
      this.counts.acked++;
      if (epoch !== undefined) planned.circuit?.succeeded(epoch);
      delivery.ack();
      span?.end('acked');
      const { origin } = planned.handler;
      if (this.events.observed) this.events.emit('acked', delivery, { handler: origin, attempt: context.attempt });
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
      this.rescue(handling, fault, outcome.failed);
    }
  }

  /**
   * An error prevented the settlement: an internal one, or the handler threw a value whose class or properties cannot be read. The message
   * returns to its queue after a pause.
   * @param hasFailed true if its handler failed: then the message is settled as after another failure, and uses an attempt
   */
  rescue(taken: Taken & Partial<Pick<Failed, 'replies'>>, thrown: unknown, hasFailed = false): void {
    const { delivery, planned, replies } = taken;
    this.settling.end(delivery);
    const fault = readable(thrown);
    const isOver = (): boolean => delivery.settled;
    const giveBack = (): void => {
      if (!hasFailed) return delivery.requeue();
      const error = new UnsettledFailureError(fault);
      try {
        this.#fail({ delivery, planned, replies, error, filtered: error });
      } catch {
        delivery.requeue();
      }
    };
    if (!isOver()) this.timers.after(shortestPause, isOver, giveBack);
    taken.span?.end('requeued', errorOf(fault));
    this.#log.trouble(taken, 'could not be settled when its handler ended, and returns unless it was', fault);
  }

  /** Acknowledges a message that was handled before, in this process or another. */
  duplicate(delivery: BackendDelivery, { handler }: PlannedHandler): void {
    this.counts.duplicates++;
    delivery.ack();
    this.events.emit('acked', delivery, { handler: handler.origin });
  }

  /** Sends a message to its queue after a delay, as the same attempt. */
  postpone(delivery: BackendDelivery, planned: PlannedHandler, delay: number): void {
    this.#republishing.postpone(delivery, planned, delay);
  }

  /** Sends a message that came while its circuit is open to its queue, after the pause of the circuit. No handler gets it. */
  wait(delivery: BackendDelivery, planned: PlannedHandler): void {
    const hold = { wait: planned.circuit?.pause ?? 0, isCounted: false };
    this.#republishing.hold(
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
    this.#republishing.retry({ delivery, planned, replies: undefined, error, filtered: error });
  }

  /**
   * Parks a message that was delivered although its attempts are used up, without calling a handler. The dead letters of its queue
   * return to the queue, or another consumer rejected it.
   */
  exhausted(delivery: BackendDelivery, planned: PlannedHandler, attempt: number): void {
    const error = new AttemptsExhaustedError(planned.handler.origin, attempt - 1);
    this.#republishing.park({ delivery, planned, replies: undefined, error, filtered: error });
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
    this.events.emit('rejected', delivery, { error, ...group });
  }

  /**
   * Dead-letters a message that no handler can take. If its handlers have a retry policy and the queue has no dead-letter exchange
   * of its own, the message is parked: otherwise it would be lost, or return for ever.
   */
  refuse(delivery: BackendDelivery, error: unknown, { handlers }: ConsumerPlan): void {
    const planned = handlers.find(({ retry }) => retry !== undefined);
    if (planned === undefined || keepsDeadLetters(planned)) return this.reject(delivery, error);
    this.#republishing.park({ delivery, planned, replies: undefined, error, filtered: error, isUnhandled: true });
  }

  #fail(failed: Failed): void {
    const { delivery, planned, error } = failed;
    if (error instanceof Drop) {
      this.counts.dropped++;
      if (this.meter !== undefined) this.meter.of(planned).dropped++;
      this.#log.dropped(failed, attemptBy(failed), error);
      this.#answer(failed, () => delivery.ack());
      failed.span?.end('dropped');
      this.events.emit('dropped', delivery, { handler: planned.handler.origin, error });
      return;
    }
    this.#denials.note(error, delivery, planned.handler.origin);
    const hold = this.#holding.decide(failed);
    if (hold !== undefined) return this.#republishing.hold(failed, hold);
    const isAsked = error instanceof Park || waitAskedBy(error) !== undefined;
    if (isAsked || (planned.retry !== undefined && !(error instanceof Reject))) return this.#republishing.retry(failed);
    this.#giveUp(failed);
  }

  /**
   * Ends the attempts of a message: its queue dead-letters it. Under a retry policy the message is parked if the queue has no
   * dead-letter exchange, because it would be lost, and if the exchange leads to the wait queue, because it would return for ever.
   */
  #giveUp(failed: Failed): void {
    const { delivery, planned, error } = failed;
    if (planned.retry !== undefined && !keepsDeadLetters(planned)) return this.#republishing.park(failed);
    if (this.meter !== undefined) this.meter.of(planned).rejected++;
    this.#log.last(failed, attemptBy(failed), 'rejected', error, true);
    this.#answer(failed, () => this.reject(delivery, error, failed.span, failed));
  }

  /** Sends the error to the client of a request, and then settles the message. */
  #answer(failed: Failed, settle: () => void): void {
    this.settling.begin(failed.delivery);
    answer(failed, () => {
      this.settling.end(failed.delivery);
      settle();
    });
  }

  /** Warns once if the hook is missing: dead letters then have `Internal server error` in place of the error. */
  #checkHook(context: DlxContext, { handler }: PlannedHandler): void {
    if (this.#unhooked || context.hooked || handler.kind === 'consume') return;
    this.#unhooked = true;
    const text =
      `what ${handler.origin} and other handlers throw cannot be seen here: ` +
      'connect the transport with { inheritAppConfig: true }, or apply @UseInterceptors(CaptureErrors)';
    this.lines.write('errorsUnseen', text, { handler: handler.origin });
  }

  #ofRejected(failed: NotedAttempt, span: SafeProcess | undefined): FieldTable {
    return fitting(failed.delivery.message.own.headers, withSpan(this.notes.ofRejected(failed), span));
  }
}

/** The fate of a message whose handler fails after that. */
const settledBefore = 'after it had settled the message';

/** The disk of the broker failed after the commit, or the channel ended in it. */
const uncommitted = 'was handled, but it is unknown whether it was settled, and what it emitted published';
