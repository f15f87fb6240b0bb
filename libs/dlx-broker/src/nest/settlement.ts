import type { Logger } from '@nestjs/common';
import {
  attemptOf,
  park,
  retryOrPark,
  type Backend,
  type BackendDelivery,
  type Done,
  type RetryOutcome,
} from '../backend/index.js';
import { emptyTable, type FieldTable } from '../message/index.js';
import type { RetryPlan } from '../topology/index.js';
import type { DlxContext } from './context.js';
import { describeError, failureHeaders } from './failure.js';
import type { PlannedHandler } from './handler.js';
import type { ResolvedOptions } from './options.js';
import type { Replies } from './replies.js';
import type { Outcome } from './run.js';

/** Milliseconds before a message that could not be republished is back in its queue. */
const pauseBeforeReturn = 1_000;

/** What handlers did since the start. */
export interface HandlerCounts {
  acked: number;
  rejected: number;
  retried: number;
  parked: number;
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
  unknownPattern: 0,
  undecodable: 0,
  byHand: 0,
});

/** A success acks; a failure is tried again if there is a plan for that, or else dead-lettered with its reason. */
export class Settlement {
  readonly counts: HandlerCounts = noCounts();
  #unhooked = false;

  constructor(
    private readonly backend: Backend,
    private readonly options: ResolvedOptions,
    private readonly logger: Logger,
  ) {}

  settle(
    outcome: Outcome,
    delivery: BackendDelivery,
    context: DlxContext,
    planned: PlannedHandler,
    replies: Replies | undefined,
  ): void {
    if (delivery.settled) {
      this.counts.byHand++;
      if (outcome.failed) this.#answer(outcome.failure, replies);
      return;
    }
    if (!outcome.failed) {
      this.counts.acked++;
      delivery.ack();
      return;
    }
    this.#checkHook(context, planned);
    const error = context.failureOr(outcome.failure);
    if (planned.retry !== undefined) this.#retry(error, outcome.failure, delivery, planned, replies);
    else {
      this.#log(delivery, planned, error, 'rejected');
      this.#answer(outcome.failure, replies, () => this.reject(delivery, error));
    }
  }

  /** Dead-letters what no handler saw or what a handler failed on, with the reason in the headers where that is possible. */
  reject(delivery: BackendDelivery, error: unknown): void {
    if (delivery.settled) return;
    this.counts.rejected++;
    delivery.reject(this.backend.rejectsWithHeaders ? this.#headers(error) : undefined);
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

  #retry(
    error: unknown,
    filtered: unknown,
    delivery: BackendDelivery,
    planned: PlannedHandler,
    replies: Replies | undefined,
  ): void {
    const plan = planned.retry!;
    const hopeless = planned.handler.settings.notRetried.some((type) => error instanceof type);
    let outcome: RetryOutcome | undefined = undefined;
    let ended: { readonly failure: Error | undefined } | undefined;
    // The end may come before the outcome is returned (embedded), or long after it (a broker elsewhere).
    const finish = (): void => {
      if (outcome === undefined || ended === undefined) return;
      if (ended.failure !== undefined) return this.#comeBack(delivery, planned, ended.failure);
      this.counts[outcome.kind]++;
      const what = outcome.kind === 'parked' ? `parked in '${outcome.queue}'` : `tried again in ${outcome.delay} ms`;
      this.#log(delivery, planned, error, `${what} after attempt ${outcome.attempt}`);
      if (outcome.kind === 'parked') this.#answer(filtered, replies);
    };
    const done: Done = (failure) => {
      ended = { failure };
      finish();
    };
    outcome = hopeless
      ? parkAtOnce(delivery, plan, this.#headers(error), done)
      : retryOrPark(delivery, plan, { error, headers: this.#headers(error) }, done);
    finish();
  }

  /** Neither wait queue nor parking lot took it. A reject could lose it, so it returns, after a pause that breaks a hot loop. */
  #comeBack(delivery: BackendDelivery, planned: PlannedHandler, failure: Error): void {
    this.#log(delivery, planned, failure, `cannot be republished and returns to its queue in ${pauseBeforeReturn} ms`);
    setTimeout(() => delivery.requeue(), pauseBeforeReturn).unref();
  }

  #headers(error: unknown): FieldTable {
    return this.options.errorHeaders === undefined ? emptyTable : failureHeaders(error, this.options.errorHeaders);
  }

  /** The caller of a request learns what the filters let through; then it is settled. */
  #answer(failure: unknown, replies: Replies | undefined, settled: () => void = () => undefined): void {
    if (replies === undefined) settled();
    else replies.error(failure, settled);
  }

  #log(delivery: BackendDelivery, { handler }: PlannedHandler, error: unknown, what: string): void {
    const { name, message } = describeError(error);
    this.logger.warn(`${handler.origin}: ${name}: ${message}; message of queue '${delivery.queue}' ${what}`);
  }
}

function parkAtOnce(delivery: BackendDelivery, plan: RetryPlan, headers: FieldTable, done: Done): RetryOutcome {
  const { queue, parkingLot } = plan;
  const attempt = attemptOf(delivery.message, queue);
  park(delivery, parkingLot, { queue, attempt, headers }, done);
  return { kind: 'parked', queue: parkingLot, attempt };
}
