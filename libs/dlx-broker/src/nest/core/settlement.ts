import type { Backend, BackendDelivery } from '../../backends/index.js';
import { fitting } from '../../platform/history/index.js';
import { doNothing } from '../../platform/index.js';
import type { EventLog } from '../log/event-log.js';
import type { ResolvedOptions } from '../module/options.js';
import type { WaitQueues } from '../retry/index.js';
import type { DlxContext } from './context.js';
import type { DeliveryTimers } from './delivery-timers.js';
import { Denials } from './failure-log.js';
import { FailureLog } from './failure-log.js';
import { readable, UnsettledFailureError } from './failure.js';
import type { Feature } from './feature.js';
import { Followers, timeOfMove } from './followers.js';
import { type HandlerCounts, noCounts } from './handler-counts.js';
import type { HandlerMeter } from './handler-meter.js';
import type { Failed, Handling, Outcome, PlannedHandler, TakenBy } from './handler.js';
import { holdOf } from './holding.js';
import type { OutcomeEvents } from './outcome-events.js';
import { Drop, Park, Reject, RetryLater } from './outcomes.js';
import type { ConsumerPlan } from './plan.js';
import { answer, attemptBy } from './republishing.js';
import { Republishing, type SettlementState, shortestPause } from './republishing.js';
import { Retrying, waitAskedBy } from './retrying.js';

/** Milliseconds after which a message comes again whose handler was not called because a duplicate of it is being handled. */
const pauseWhileBusy = 1_000;

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

/** A message that is given up before or behind its handler: no client waits for its error. */
const withoutHandler = (delivery: BackendDelivery, planned: PlannedHandler, error: unknown): TakenBy<Failed> => ({
  delivery,
  planned,
  error,
  filtered: error,
});

/**
 * Settles messages by the outcome of their handlers. A success acks. After a failure the exception decides (`RetryLater`, `Park`,
 * `Reject`, `Drop`). For other errors the message is retried if the handler has a policy, and dead-lettered with the reason if not.
 */
export class Settlement implements SettlementState {
  readonly counts: HandlerCounts = noCounts();
  rejecting: ReadonlySet<string> = new Set();
  meter: HandlerMeter | undefined;
  /** The deliveries whose handlers have ended, and that are settled as soon as the broker has a successor or a reply. */
  readonly #settling = new Set<BackendDelivery>();
  readonly #waiting: (() => void)[] = [];
  readonly followers: Followers;
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
    this.followers = new Followers(features);
    this.#denials = new Denials(lines);
    this.#log = new FailureLog(lines, logFailures);
    this.#republishing = new Republishing(this, new Retrying(waitQueues), this.#log, () => backend.clock.now());
  }

  settle(outcome: Outcome, handling: Handling): void {
    const { delivery, planned, context, replies } = handling;
    const isAcked = !outcome.failed && outcome.isAcked === true;
    if (context.isSettled && !isAcked) {
      const isByHand = context.isSettledByHand;
      if (isByHand) this.counts.byHand++;
      const kind = isByHand ? 'by hand' : 'requeued';
      if (!outcome.failed) {
        planned.gate?.succeeded(delivery);
        return this.followers.settled({ delivery, planned, handling }, { kind });
      }
      const filtered = outcome.failure;
      const error = context.failureOr(filtered);
      if (isByHand) this.#log.last(handling, context.attempt, settledBefore, error);
      planned.gate?.failed({ delivery, planned, handling, error, filtered });
      replies?.error(filtered, doNothing);
      return this.followers.settled({ delivery, planned, handling }, { kind, error });
    }
    if (!outcome.failed) {
      if (outcome.skipped === 'busy') return this.#republishing.postpone(handling, pauseWhileBusy);
      if (outcome.skipped === 'done') return this.#duplicate(handling);
      this.counts.acked++;
      planned.gate?.succeeded(delivery);
      if (!isAcked) delivery.ack();
      if (this.followers.any) this.followers.settled({ delivery, planned, handling }, { kind: 'acked' });
      const { origin } = planned.handler;
      if (this.events.observed) this.events.emit('acked', delivery, { handler: origin, attempt: context.attempt });
      return;
    }
    this.#checkHook(context, planned);
    const filtered = outcome.failure;
    this.#fail({ delivery, planned, handling, error: context.failureOr(filtered), filtered });
  }

  /** The outcome of another one of several handlers settles the message. */
  outvoted(outcome: Outcome, handling: Handling): void {
    const { delivery, planned, context } = handling;
    const settled = outcome.failed
      ? ({ kind: 'failed', error: context.failureOr(outcome.failure) } as const)
      : ({ kind: 'handled' } as const);
    this.followers.settled({ delivery, planned, handling }, settled);
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
  rescue(taken: Pick<Handling, 'delivery' | 'planned'> & Partial<Handling>, thrown: unknown, hasFailed = false): void {
    const { delivery, planned, context } = taken;
    const handling = context && (taken as Handling);
    this.hasSettled(delivery);
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
    this.followers.settled({ delivery, planned, handling }, { kind: 'requeued', error: fault });
    this.#log.trouble(taken, 'could not be settled when its handler ended, and returns unless it was', fault);
  }

  /** Logs an error that says nothing about the outcome. */
  trouble(taken: TakenBy, what: string, error: unknown): void {
    this.#log.trouble(taken, what, error);
  }

  /** Acknowledges a message that was handled before, in this process or another. */
  #duplicate({ delivery, planned, replies }: Handling): void {
    this.counts.duplicates++;
    delivery.ack();
    this.events.emit('acked', delivery, { handler: planned.handler.origin });
    replies?.complete(doNothing); // a packet of Nest may ask a handler of events
  }

  /** Sends a message that came while its gate is closed to its queue, after the wait of the gate. No handler gets it. */
  wait(delivery: BackendDelivery, planned: PlannedHandler): void {
    const hold = { wait: planned.gate?.wait ?? 0, isCounted: false };
    const failed = { delivery, planned, error: undefined, filtered: undefined, isUnhandled: true } as const;
    this.#republishing.hold(failed, hold);
  }

  /** Settles a message after `context.reject()` under a retry policy. */
  rejected(delivery: BackendDelivery, planned: PlannedHandler): void {
    this.#giveUp(withoutHandler(delivery, planned, new Reject('its handler called reject()')));
  }

  /** Settles a message after `context.requeue()` under a retry policy. */
  requeued(delivery: BackendDelivery, planned: PlannedHandler): void {
    this.#republishing.retry(withoutHandler(delivery, planned, new RetryLater(0, 'its handler called requeue()')));
  }

  /**
   * Parks a message that was delivered although its attempts are used up, without calling a handler. The dead letters of its queue
   * return to the queue, or another consumer rejected it.
   */
  exhausted(delivery: BackendDelivery, planned: PlannedHandler, attempt: number): void {
    const error = new AttemptsExhaustedError(planned.handler.origin, attempt - 1);
    this.#republishing.park(withoutHandler(delivery, planned, error));
  }

  /**
   * Dead-letters a message that no handler can take. If its handlers have a retry policy and the queue has no dead-letter exchange
   * of its own, the message is parked: otherwise it would be lost, or return for ever.
   */
  refuse(delivery: BackendDelivery, error: unknown, { handlers }: ConsumerPlan): void {
    const planned = handlers.find(({ retry }) => retry !== undefined);
    if (planned === undefined || keepsDeadLetters(planned)) return this.#reject({ delivery, error, filtered: error });
    this.#republishing.park({ delivery, planned, error, filtered: error, isUnhandled: true });
  }

  isSettling(delivery: BackendDelivery): void {
    this.#settling.add(delivery);
  }

  hasSettled(delivery: BackendDelivery): void {
    this.#settling.delete(delivery);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when no delivery of a queue is being settled. */
  async idle(queue: string): Promise<void> {
    const isOf = (delivery: BackendDelivery): boolean => delivery.queue === queue && !delivery.settled;
    while ([...this.#settling].some(isOf)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #fail(failed: TakenBy<Failed>): void {
    const { delivery, planned, error } = failed;
    if (error instanceof Drop) {
      this.counts.dropped++;
      if (this.meter !== undefined) this.meter.of(planned).dropped++;
      this.#log.dropped(failed, attemptBy(failed), error);
      this.#answer(failed, () => delivery.ack());
      this.followers.settled(failed, { kind: 'dropped', error });
      this.events.emit('dropped', delivery, { handler: planned.handler.origin, error });
      return;
    }
    this.#denials.note(error, delivery, planned.handler.origin);
    const hold = holdOf(failed);
    if (hold !== undefined) return this.#republishing.hold(failed, hold);
    const isAsked = error instanceof Park || waitAskedBy(error) !== undefined;
    if (isAsked || (planned.retry !== undefined && !(error instanceof Reject))) return this.#republishing.retry(failed);
    this.#giveUp(failed);
  }

  /**
   * Ends the attempts of a message: its queue dead-letters it. Under a retry policy the message is parked if the queue has no
   * dead-letter exchange, because it would be lost, and if the exchange leads to the wait queue, because it would return for ever.
   */
  #giveUp(failed: TakenBy<Failed>): void {
    const { planned, error } = failed;
    if (planned.retry !== undefined && !keepsDeadLetters(planned)) return this.#republishing.park(failed);
    if (this.meter !== undefined) this.meter.of(planned).rejected++;
    this.#log.last(failed, attemptBy(failed), 'rejected', error, true);
    this.#answer(failed, () => this.#reject(failed));
  }

  /** Dead-letters a message, with the reason in the headers if the backend can add them. */
  #reject(failed: Failed): void {
    const { delivery, error } = failed;
    if (delivery.settled) return this.followers.settled(failed, { kind: 'requeued', error });
    this.counts.rejected++;
    const since = this.followers.any ? timeOfMove() : undefined;
    const { headers } = delivery.message.own;
    delivery.reject(
      this.backend.rejectsWithHeaders ? fitting(headers, this.followers.headers(failed, 'reject')) : undefined,
    );
    this.followers.settled(failed, { kind: 'rejected', error, since });
    const group = this.events.isWanted('rejected') ? this.followers.grouped(failed) : {};
    this.events.emit('rejected', delivery, { error, ...group });
  }

  /** Sends the error to the client of a request, and then settles the message. */
  #answer(failed: Failed, settle: () => void): void {
    this.isSettling(failed.delivery);
    answer(failed, () => {
      this.hasSettled(failed.delivery);
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

/** The fate of a message whose handler fails after that. */
const settledBefore = 'after it had settled the message';
