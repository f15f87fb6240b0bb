import { AsyncResource } from 'node:async_hooks';
import type { Logger } from '@nestjs/common';
import { attemptOf } from '../history/index.js';
import type { RetryOutcome, WaitQueues } from '../retry/index.js';
import { type Backend, type BackendDelivery } from '../backend/index.js';
import { emptyTable, type FieldTable } from '../message/index.js';
import type { DlxContext } from './context.js';
import { DeliveryTimers } from './delivery-timers.js';
import { Denials } from './denials.js';
import { failureHeaders } from './failure.js';
import { FailureLog, textOf } from './failure-log.js';
import type { Handling, Outcome, PlannedHandler } from './handler.js';
import type { ResolvedOptions } from './options.js';
import type { ConsumerPlan } from './plan.js';
import type { OutcomeEvents } from './outcome-events.js';
import { Drop, Park, Reject, RetryLater } from './outcomes.js';
import { Retrying, type Decided } from './retrying.js';

/** Milliseconds before a message that could not be republished is republished again: at first, and twice as long each time. */
const shortestPause = 1_000;

/** After the pause of this length, some nine minutes in all, it goes back: a broker takes back what is held for too long. */
const longestPause = 256_000;

/** Does the same once more, with the pause before the next time. */
type Again = (pause: number) => void;

/** A message came although its attempts are used up. */
export class AttemptsExhaustedError extends Error {
  override readonly name = 'AttemptsExhaustedError';

  constructor(origin: string, attempts: number) {
    super(`${origin} is not asked any more: the message failed ${attempts} times`);
  }
}

/** Whether the dead letters of its queue go where its handler says, and not into a wait queue. */
const keepsDeadLetters = ({ handler }: PlannedHandler): boolean =>
  handler.settings.queueArguments.has('x-dead-letter-exchange');

/** A message that can be settled, and the handler that had it. */
type Taken = Pick<Handling, 'delivery' | 'planned'>;

/** A message its handler failed on, or that no handler could take. */
interface Failed extends Omit<Handling, 'context'> {
  /** As it was thrown. */
  readonly error: unknown;
  /** What came out of Nest's filters, for the caller of a request. */
  readonly filtered: unknown;
}

/** What handlers did since the start. */
export interface HandlerCounts {
  acked: number;
  rejected: number;
  retried: number;
  parked: number;
  /** By `throw new Drop()`. */
  dropped: number;
  /** By `@Idempotent`: handled before, so not again. */
  duplicates: number;
  /** No handler of the queue is for this routing key. */
  unknownPattern: number;
  undecodable: number;
  /** Settled by the handler itself. */
  byHand: number;
}

export const noCounts = (): HandlerCounts => ({
  acked: 0,
  rejected: 0,
  retried: 0,
  parked: 0,
  dropped: 0,
  duplicates: 0,
  unknownPattern: 0,
  undecodable: 0,
  byHand: 0,
});

/**
 * A success acks. A failure is what the handler says by what it throws (`RetryLater`, `Park`, `Reject`, `Drop`); else it is
 * tried again if there is a plan for that, or dead-lettered with its reason.
 */
export class Settlement {
  readonly counts: HandlerCounts = noCounts();
  /** Queues that dead-letter what is rejected into the wait queue of their policy. */
  rejecting: ReadonlySet<string> = new Set();
  /** About messages in hand; for attempts as well. */
  readonly timers: DeliveryTimers;
  readonly #retrying: Retrying;
  readonly #denials: Denials;
  readonly #log: FailureLog;
  #unhooked = false;

  constructor(
    private readonly backend: Backend,
    waitQueues: WaitQueues,
    readonly events: OutcomeEvents,
    private readonly options: ResolvedOptions,
    private readonly logger: Logger,
  ) {
    this.timers = new DeliveryTimers(backend.clock);
    this.#retrying = new Retrying(waitQueues);
    this.#denials = new Denials(logger);
    this.#log = new FailureLog(logger, options.logFailures);
  }

  settle(outcome: Outcome, { delivery, planned, context, replies }: Handling): void {
    if (context.isSettled) {
      this.counts.byHand++;
      if (outcome.failed) replies?.error(outcome.failure, doNothing);
      return;
    }
    if (!outcome.failed) {
      this.counts.acked++;
      delivery.ack();
      const { origin } = planned.handler;
      if (this.events.observed) this.events.tell('acked', delivery, { handler: origin, attempt: context.attempt });
      return;
    }
    this.#checkHook(context, planned);
    const filtered = outcome.failure;
    this.#fail({ delivery, planned, replies, error: context.failureOr(filtered), filtered });
  }

  /** The same, but it never throws. */
  end(outcome: Outcome, handling: Handling): void {
    try {
      this.settle(outcome, handling);
    } catch (fault) {
      this.rescue(handling, fault);
    }
  }

  /** Settling failed itself, by a fault of ours: the message comes back after a pause, for it must not stay in hand. */
  rescue(taken: Taken, fault: unknown): void {
    const { delivery } = taken;
    const isOver = (): boolean => delivery.settled;
    if (!isOver()) this.timers.after(shortestPause, isOver, () => delivery.requeue());
    this.#log.trouble(taken, 'could not be settled as its handler ended, and comes back unless it was', fault);
  }

  /** It was handled before, by this handler or another process. */
  duplicate(delivery: BackendDelivery, { handler }: PlannedHandler): void {
    this.counts.duplicates++;
    delivery.ack();
    this.events.tell('acked', delivery, { handler: handler.origin });
  }

  /** It comes again after a while, as the same attempt. */
  postpone(delivery: BackendDelivery, planned: PlannedHandler, delay: number, pause = shortestPause): void {
    this.#retrying.postpone(delivery, delay, (failure) => {
      if (failure === undefined) return;
      this.#tryLater({ delivery, planned }, failure, pause, (next) => this.postpone(delivery, planned, delay, next));
    });
  }

  /** By `context.reject()` under a retry policy. */
  rejected(delivery: BackendDelivery, planned: PlannedHandler): void {
    const error = new Reject('its handler called reject()');
    this.#giveUp({ delivery, planned, replies: undefined, error, filtered: error });
  }

  /** By `context.requeue()` under a retry policy. */
  requeued(delivery: BackendDelivery, planned: PlannedHandler): void {
    const error = new RetryLater(0, 'its handler called requeue()');
    this.#retry({ delivery, planned, replies: undefined, error, filtered: error });
  }

  /**
   * It comes once more although its attempts are used up, because its queue's own dead letters lead back to it, or another
   * consumer rejected it: it is parked, and no handler sees it.
   */
  exhausted(delivery: BackendDelivery, planned: PlannedHandler, attempt: number): void {
    const error = new AttemptsExhaustedError(planned.handler.origin, attempt - 1);
    this.#park({ delivery, planned, replies: undefined, error, filtered: error });
  }

  /** Dead-letters what no handler saw or what a handler failed on, with the reason in the headers where that is possible. */
  reject(delivery: BackendDelivery, error: unknown): void {
    if (delivery.settled) return;
    this.counts.rejected++;
    delivery.reject(this.backend.rejectsWithHeaders ? this.#headers(error) : undefined);
    this.events.tell('rejected', delivery, { error });
  }

  /**
   * What no handler can take is dead-lettered by its queue; where the queue has no dead-letter exchange of its own, but a
   * retry policy, it is parked: it would be lost, or come back for ever.
   */
  refuse(delivery: BackendDelivery, error: unknown, { handlers }: ConsumerPlan): void {
    const planned = handlers.find(({ retry }) => retry !== undefined);
    if (planned === undefined || keepsDeadLetters(planned)) return this.reject(delivery, error);
    this.#park({ delivery, planned, replies: undefined, error, filtered: error });
  }

  #fail(failed: Failed): void {
    const { delivery, planned, error } = failed;
    if (error instanceof Drop) {
      this.counts.dropped++;
      this.#log.dropped(failed, attemptBy(failed), error);
      this.#answer(failed, () => delivery.ack());
      this.events.tell('dropped', delivery, { handler: planned.handler.origin, error });
      return;
    }
    this.#denials.note(error, delivery.message, planned.handler.origin);
    const isAsked = error instanceof Park || error instanceof RetryLater;
    if (isAsked || (planned.retry !== undefined && !(error instanceof Reject))) return this.#retry(failed);
    this.#giveUp(failed);
  }

  /**
   * No further attempt: dead-lettered by its queue. Under a retry policy the queue may have none but the exchange of its wait
   * queue, from which the message would come back for ever, or none at all, and it would be lost: then it is parked.
   */
  #giveUp(failed: Failed): void {
    const { delivery, planned, error } = failed;
    if (planned.retry !== undefined && !keepsDeadLetters(planned)) return this.#park(failed);
    this.#log.last(failed, attemptBy(failed), 'rejected', error);
    this.#answer(failed, () => this.reject(delivery, error));
  }

  #park(failed: Failed, pause = shortestPause): void {
    const { delivery, planned, error } = failed;
    const decided = this.#decided(failed, pause, (next) => this.#park(failed, next));
    this.#retrying.park(delivery, planned.retry, { error, headers: this.#headers(error) }, decided);
  }

  /** Said once: without the hook, dead letters tell `Internal server error` whatever went wrong. */
  #checkHook(context: DlxContext, { handler }: PlannedHandler): void {
    if (this.#unhooked || context.hooked || handler.kind === 'consume') return;
    this.#unhooked = true;
    this.logger.warn(
      `what ${handler.origin} and other handlers throw cannot be seen here: ` +
        'connect the transport with { inheritAppConfig: true }, or apply @UseInterceptors(CaptureErrors)',
    );
  }

  #retry(failed: Failed, pause = shortestPause): void {
    const { delivery, planned, error } = failed;
    const again = (next: number): void => this.#retry(failed, next);
    try {
      const byReject = this.rejecting.has(delivery.queue);
      const headers = this.#headers(error);
      this.#retrying.decide(delivery, planned.retry, { error, headers, byReject }, this.#decided(failed, pause, again));
    } catch (fault) {
      this.#tryLater(failed, fault, pause, again);
    }
  }

  /** It may be decided where a disk or a socket was waited for: loggers and hooks see the context of the message. */
  #decided(failed: Failed, pause: number, again: Again): Decided {
    const own = new AsyncResource('DlxDecision');
    const decided: Decided = (outcome, failure) => {
      if (failure !== undefined) return this.#tryLater(failed, failure, pause, again);
      this.#retried(outcome, failed);
      if (outcome.kind === 'parked') this.#answer(failed, doNothing);
    };
    return (outcome, failure) => own.runInAsyncScope(decided, undefined, outcome, failure);
  }

  #retried(outcome: RetryOutcome, failed: Failed): void {
    const { delivery, planned, error } = failed;
    const { kind, attempt } = outcome;
    this.counts[kind]++;
    if (kind === 'retried') this.#log.again(failed, attempt, outcome.delay, error);
    else this.#log.last(failed, attempt, fateOf(outcome), error);
    const detail = kind === 'parked' ? { to: outcome.queue } : { delay: outcome.delay };
    this.events.tell(kind, delivery, { handler: planned.handler.origin, attempt, error, ...detail });
  }

  /**
   * Neither wait queue nor parking lot took it. A reject could lose it, and back in its queue it would be handled again
   * without using an attempt: it stays in hand, unacknowledged, and the same is tried after a pause, which grows. Only when
   * that helped in none of nine minutes it returns.
   */
  #tryLater(taken: Taken, failure: unknown, pause: number, again: Again): void {
    const isOver = pause > longestPause;
    const next = isOver ? 'returns to its queue' : `stays unacknowledged and is republished again in ${pause} ms`;
    this.#log.trouble(taken, `cannot be republished and ${next}`, failure);
    if (isOver) return taken.delivery.requeue();
    const isSettled = (): boolean => taken.delivery.settled;
    this.timers.after(pause, isSettled, () => {
      if (!isSettled()) again(pause * 2); // settled: the consumer gave it back
    });
  }

  #headers(error: unknown): FieldTable {
    return this.options.errorHeaders === undefined ? emptyTable : failureHeaders(error, this.options.errorHeaders);
  }

  /** The caller of a request learns what the filters let through; then it is settled. */
  #answer({ replies, filtered }: Failed, settled: () => void): void {
    if (replies === undefined) settled();
    else replies.error(filtered, settled);
  }
}

const attemptBy = ({ delivery }: Taken): number => attemptOf(delivery.message, delivery.queue);

function fateOf(outcome: RetryOutcome & { readonly kind: 'parked' }): string {
  const fate = `parked in '${outcome.queue}'`;
  return outcome.why === 'policy' ? `${fate}, for its policy failed (${textOf(outcome.fault)})` : fate;
}

const doNothing = (): void => undefined;
