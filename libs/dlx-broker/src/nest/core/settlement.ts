import type { Backend, BackendDelivery } from '../../backends/index.js';
import { fitting } from '../../platform/history/index.js';
import { doNothing } from '../../platform/index.js';
import type { EventLog } from '../log/event-log.js';
import type { ResolvedOptions } from '../module/options.js';
import type { WaitQueues } from '../retry/index.js';
import type { DlxContext } from './context.js';
import type { DeliveryTimers } from './delivery-timers.js';
import { Denials, FailureLog, rejected } from './failure-log.js';
import { readable, UnsettledFailureError } from './failure.js';
import type { Feature } from './feature.js';
import type { Failed, Handling, Outcome, PlannedHandler, Taken } from './handler.js';
import { holdOf } from './holding.js';
import type { OutcomeEvents } from './outcome-events.js';
import { askedHeaders, Drop, Park, Reject, RetryLater } from './outcomes.js';
import type { ConsumerPlan } from './plan.js';
import { Reports } from './reports.js';
import { PendingDeliveries, Republishing, shortestPause, waitAskedBy } from './republishing.js';

/** Milliseconds after which a message comes again whose handler was not called because a duplicate of it is being handled. */
const pauseWhileBusy = 1_000;

/** A message was delivered although its attempts are used up. */
export class AttemptsExhaustedError extends Error {
  override readonly name = 'AttemptsExhaustedError';

  constructor(origin: string, attempts: number) {
    super(`${origin} is not asked any more: the message failed ${attempts} times`);
  }
}

/**
 * True if a message is parked when its attempts have ended. Under a retry policy that is so if its queue has no dead-letter exchange,
 * because the message would be lost, and if the exchange leads to the wait queue, because it would return for ever.
 */
const isParkedLast = ({ handler, retry }: PlannedHandler): boolean =>
  retry !== undefined && !handler.settings.queueArguments.has('x-dead-letter-exchange');

/** A message that is given up before or behind its handler: no client waits for its error. */
const withoutHandler = (delivery: BackendDelivery, planned: PlannedHandler, error: unknown): Failed => ({
  delivery,
  planned,
  error,
  filtered: error,
});

/** An attempt that failed. @param filtered the result of Nest's filters */
const failedIn = (handling: Handling, filtered: unknown): Failed => {
  const { delivery, planned, context } = handling;
  return { delivery, planned, handling, error: context.failureOr(filtered), filtered };
};

/**
 * Settles messages by the outcome of their handlers. A success acks. After a failure the exception decides (`RetryLater`, `Park`,
 * `Reject`, `Drop`). For other errors the message is retried if the handler has a policy, and dead-lettered with the reason if not.
 */
export class Settlement {
  readonly reports: Reports;
  readonly #pending = new PendingDeliveries();
  readonly #republishing: Republishing;
  readonly #denials: Denials;
  readonly #log: FailureLog;
  #unhooked = false;

  constructor(
    private readonly backend: Backend,
    waitQueues: WaitQueues,
    readonly events: OutcomeEvents,
    { logFailures }: Pick<ResolvedOptions, 'logFailures'>,
    private readonly lines: EventLog,
    /** The timers of unsettled messages, those of attempts included. */
    readonly timers: DeliveryTimers,
    features: readonly Feature[],
  ) {
    this.#denials = new Denials(lines);
    this.#log = new FailureLog(lines, logFailures);
    this.reports = new Reports(features, this.#log, events);
    this.#republishing = new Republishing(waitQueues, this.reports, this.#log, timers, this.#pending);
  }

  /** Queues that dead-letter rejected messages into the wait queue of their policy. */
  set rejecting(queues: ReadonlySet<string>) {
    this.#republishing.rejecting = queues;
  }

  #settle(outcome: Outcome, handling: Handling): void {
    const { delivery, planned, context, replies } = handling;
    const isAcked = !outcome.failed && outcome.isAcked === true;
    if (context.isSettled && !isAcked) {
      const kind = context.isSettledByHand ? 'by hand' : 'requeued';
      if (!outcome.failed) {
        planned.gate?.succeeded(delivery);
        return this.reports.settled({ delivery, planned, handling }, { kind });
      }
      const failed = failedIn(handling, outcome.failure);
      const { error, filtered } = failed;
      planned.gate?.failed(failed);
      replies?.error(filtered, doNothing);
      return this.reports.settled(failed, {
        kind,
        error,
        fate: kind === 'by hand' ? 'after it had settled the message' : undefined,
      });
    }
    if (outcome.failed) {
      this.#checkHook(context, planned);
      return this.#fail(failedIn(handling, outcome.failure));
    }
    if (outcome.skipped === 'busy') {
      return this.#republishing.postpone(withoutHandler(delivery, planned, undefined), pauseWhileBusy);
    }
    if (outcome.skipped === 'done') return this.#duplicate(handling);
    planned.gate?.succeeded(delivery);
    if (!isAcked) delivery.ack();
    this.reports.acked(handling);
  }

  /** The outcome of another one of several handlers settles the message. */
  outvoted(outcome: Outcome, handling: Handling): void {
    const { delivery, planned } = handling;
    if (!outcome.failed) return this.reports.settled({ delivery, planned, handling }, { kind: 'handled' });
    const failed = failedIn(handling, outcome.failure);
    this.reports.settled(failed, { kind: 'failed', error: failed.error });
  }

  /** Settles a message by the outcome of its handler. It never throws. */
  end(outcome: Outcome, handling: Handling): void {
    try {
      this.#settle(outcome, handling);
    } catch (fault) {
      this.rescue(handling, fault, outcome.failed);
    }
  }

  /**
   * An error prevented the settlement: an internal one, or the handler threw a value whose class or properties cannot be read. The message
   * returns to its queue after a pause.
   * @param hasFailed true if its handler failed: then the message is settled as after another failure, and uses an attempt
   */
  rescue(taken: Pick<Handling, 'delivery' | 'planned'> & Partial<Handling>, thrown: unknown, hasFailed = false): void {
    const { delivery, planned, context } = taken;
    const handling = context && (taken as Handling);
    this.#pending.delete(delivery);
    const fault = readable(thrown);
    const isOver = (): boolean => delivery.settled;
    const giveBack = (): void => {
      if (!hasFailed) return delivery.requeue();
      const error = new UnsettledFailureError(fault);
      try {
        this.#fail({ delivery, planned, handling, error, filtered: error });
      } catch {
        delivery.requeue();
      }
    };
    if (!isOver()) this.timers.after(shortestPause, isOver, giveBack);
    this.reports.settled({ delivery, planned, handling }, { kind: 'requeued', error: fault });
    this.trouble(taken, 'could not be settled when its handler ended, and returns unless it was', fault);
  }

  /** Logs an error that says nothing about the outcome. */
  trouble(taken: Taken, what: string, error: unknown): void {
    this.#log.trouble(taken, what, error);
  }

  /** Acknowledges a message that was handled before, in this process or another. */
  #duplicate(handling: Handling): void {
    const { delivery, planned, replies } = handling;
    delivery.ack();
    this.reports.settled({ delivery, planned, handling }, { kind: 'acked', isDuplicate: true });
    replies?.complete(doNothing); // a packet of Nest may ask a handler of events
  }

  /** Sends a message that came while its gate is closed to its queue, after the wait of the gate. No handler gets it. */
  wait(delivery: BackendDelivery, planned: PlannedHandler): void {
    const failed = { ...withoutHandler(delivery, planned, undefined), isUnhandled: true } as const;
    this.#republishing.hold(failed, { wait: planned.gate?.wait ?? 0, isCounted: false });
  }

  /** Settles a message after `context.reject()` or `context.requeue()` under a retry policy. */
  byHand(how: 'reject' | 'requeue', delivery: BackendDelivery, planned: PlannedHandler): void {
    const why = `its handler called ${how}()`;
    if (how === 'reject') this.#giveUp(withoutHandler(delivery, planned, new Reject(why)));
    else this.#republishing.retry(withoutHandler(delivery, planned, new RetryLater(0, why)));
  }

  /**
   * Parks a message that was delivered although its attempts are used up, without calling a handler. The dead letters of its queue
   * return to the queue, or another consumer rejected it.
   */
  exhausted(delivery: BackendDelivery, planned: PlannedHandler, attempt: number): void {
    const error = new AttemptsExhaustedError(planned.handler.origin, attempt - 1);
    this.#republishing.retry(withoutHandler(delivery, planned, error), true);
  }

  /**
   * Dead-letters a message that no handler can take. If its handlers have a retry policy and the queue has no dead-letter exchange
   * of its own, the message is parked: otherwise it would be lost, or return for ever.
   */
  refuse(delivery: BackendDelivery, error: unknown, { handlers }: ConsumerPlan): void {
    const planned = handlers.find(({ retry }) => retry !== undefined) ?? handlers[0]!;
    const failed = { ...withoutHandler(delivery, planned, error), isUnhandled: true } as const;
    if (isParkedLast(planned)) this.#republishing.retry(failed, true);
    else this.#reject(failed);
  }

  /** Resolves when no delivery of a queue is being settled. */
  idle(queue: string): Promise<void> {
    return this.#pending.idle(queue);
  }

  #fail(failed: Failed): void {
    const { delivery, planned, error } = failed;
    if (error instanceof Drop) {
      return this.#answer(failed, () => {
        delivery.ack();
        this.reports.settled(failed, { kind: 'dropped', error, fate: 'dropped' });
      });
    }
    this.#denials.note(error, delivery, planned.handler.origin);
    const hold = holdOf(failed);
    if (hold !== undefined) return this.#republishing.hold(failed, hold);
    const isAsked = error instanceof Park || waitAskedBy(error) !== undefined;
    if (isAsked || (planned.retry !== undefined && !(error instanceof Reject))) return this.#republishing.retry(failed);
    this.#giveUp(failed);
  }

  /** Ends the attempts of a message: its queue dead-letters it, or it is parked. */
  #giveUp(failed: Failed): void {
    if (isParkedLast(failed.planned)) return this.#republishing.retry(failed, true);
    this.#answer(failed, () => this.#reject(failed, rejected));
  }

  /** Dead-letters a message, with the reason in the headers if the backend can add them. @param fate what the log says of it */
  #reject(failed: Failed, fate?: string): void {
    const { delivery, error } = failed;
    const { backend, reports } = this;
    if (delivery.settled) return reports.settled(failed, { kind: 'requeued', error, fate });
    if (!backend.rejectsWithHeaders && askedHeaders(error) !== undefined) this.#log.bare(failed);
    const { since } = reports;
    const { headers } = delivery.message.own;
    delivery.reject(backend.rejectsWithHeaders ? fitting(headers, reports.headers(failed, 'reject')) : undefined);
    reports.settled(failed, { kind: 'rejected', error, since, fate, fingerprint: reports.fingerprint(failed) });
  }

  /** Sends the error to the client of a request, and then settles the message. */
  #answer({ delivery, handling, filtered }: Failed, settle: () => void): void {
    if (handling?.replies === undefined) return settle();
    this.#pending.add(delivery);
    handling.replies.error(filtered, () => {
      this.#pending.delete(delivery);
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
}
