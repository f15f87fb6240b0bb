import type { Logger } from '@nestjs/common';
import { after, type Backend, type BackendDelivery, type RetryOutcome, type WaitRooms } from '../backend/index.js';
import { emptyTable, type FieldTable } from '../message/index.js';
import type { DlxContext } from './context.js';
import { describeError, failureHeaders } from './failure.js';
import type { Handling, PlannedHandler } from './handler.js';
import type { ResolvedOptions } from './options.js';
import type { ConsumerPlan } from './plan.js';
import type { OutcomeEvents } from './outcome-events.js';
import { Drop, Park, Reject, RetryLater } from './outcomes.js';
import { Retrying, type Decided } from './retrying.js';
import type { Outcome } from './run.js';

/** Milliseconds before a message that could not be republished is back in its queue. */
const pauseBeforeReturn = 1_000;

/** A message, and who had it. */
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
  readonly #retrying: Retrying;
  #unhooked = false;

  constructor(
    private readonly backend: Backend,
    rooms: WaitRooms,
    readonly events: OutcomeEvents,
    private readonly options: ResolvedOptions,
    private readonly logger: Logger,
  ) {
    this.#retrying = new Retrying(rooms);
  }

  settle(outcome: Outcome, { delivery, planned, context, replies }: Handling): void {
    if (delivery.settled) {
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

  /** It was handled before, by this handler or another process. */
  duplicate(delivery: BackendDelivery, { handler }: PlannedHandler): void {
    this.counts.duplicates++;
    delivery.ack();
    this.events.tell('acked', delivery, { handler: handler.origin });
  }

  /** It comes again after a while, as the same attempt. */
  postpone(delivery: BackendDelivery, planned: PlannedHandler, delay: number): void {
    this.#retrying.postpone(delivery, delay, (failure) => {
      if (failure !== undefined) this.#comeBack({ delivery, planned }, failure);
    });
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
    if (planned === undefined || planned.handler.settings.queueArguments.has('x-dead-letter-exchange')) {
      return this.reject(delivery, error);
    }
    const failed = { delivery, planned, replies: undefined, error, filtered: error };
    this.#retrying.park(delivery, planned.retry, { error, headers: this.#headers(error) }, this.#decided(failed));
  }

  #fail(failed: Failed): void {
    const { delivery, planned, error } = failed;
    if (error instanceof Drop) {
      this.counts.dropped++;
      this.#log(failed, error, 'dropped');
      this.#answer(failed, () => delivery.ack());
      this.events.tell('dropped', delivery, { handler: planned.handler.origin, error });
      return;
    }
    const isAsked = error instanceof Park || error instanceof RetryLater;
    if (isAsked || (planned.retry !== undefined && !(error instanceof Reject))) return this.#retry(failed);
    this.#log(failed, error, 'rejected');
    this.#answer(failed, () => this.reject(delivery, error));
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

  #retry(failed: Failed): void {
    const { delivery, planned, error } = failed;
    try {
      const byReject = this.rejecting.has(delivery.queue);
      const headers = this.#headers(error);
      this.#retrying.decide(delivery, planned.retry, { error, headers, byReject }, this.#decided(failed));
    } catch (fault) {
      this.#comeBack(failed, fault); // a policy's own function threw
    }
  }

  #decided(failed: Failed): Decided {
    return (outcome, failure) => {
      if (failure !== undefined) return this.#comeBack(failed, failure);
      this.#retried(outcome, failed);
      if (outcome.kind === 'parked') this.#answer(failed, doNothing);
    };
  }

  #retried(outcome: RetryOutcome, failed: Failed): void {
    const { delivery, planned, error } = failed;
    const { kind, attempt } = outcome;
    this.counts[kind]++;
    const what = kind === 'parked' ? `parked in '${outcome.queue}'` : `tried again in ${outcome.delay} ms`;
    const fault =
      kind === 'parked' && outcome.why === 'policy' ? `, for its policy failed: ${textOf(outcome.fault)}` : '';
    this.#log(failed, error, `${what} after attempt ${attempt}${fault}`);
    const detail = kind === 'parked' ? { to: outcome.queue } : { delay: outcome.delay };
    this.events.tell(kind, delivery, { handler: planned.handler.origin, attempt, error, ...detail });
  }

  /** Neither wait queue nor parking lot took it. A reject could lose it, so it returns, after a pause that breaks a hot loop. */
  #comeBack(taken: Taken, failure: unknown): void {
    this.#log(taken, failure, `cannot be republished and returns to its queue in ${pauseBeforeReturn} ms`);
    after(this.backend.clock, pauseBeforeReturn, () => taken.delivery.requeue());
  }

  #headers(error: unknown): FieldTable {
    return this.options.errorHeaders === undefined ? emptyTable : failureHeaders(error, this.options.errorHeaders);
  }

  /** The caller of a request learns what the filters let through; then it is settled. */
  #answer({ replies, filtered }: Failed, settled: () => void): void {
    if (replies === undefined) settled();
    else replies.error(filtered, settled);
  }

  #log({ delivery, planned: { handler } }: Taken, error: unknown, what: string): void {
    this.logger.warn(`${handler.origin}: ${textOf(error)}; message of queue '${delivery.queue}' ${what}`);
  }
}

function textOf(error: unknown): string {
  const { name, message } = describeError(error);
  return `${name}: ${message}`;
}

const doNothing = (): void => undefined;
