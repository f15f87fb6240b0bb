import type { Backend, BackendDelivery } from '../../backends/index.js';
import { attemptOf, traceHeaders } from '../../platform/history/index.js';
import { type FieldTable, longstr } from '../../engine/message/index.js';
import type { RetryOutcome } from '../retry/index.js';
import { type SafeProcess, type SafeTracing, timeOfMove, type TracedError } from '../tracing/index.js';
import { describeError } from './failure.js';
import type { PlannedHandler } from './handler.js';
import { Drop, Park, Reject, RetryLater, Unavailable } from './outcomes.js';

/** A message whose handler failed, as its span knows it. */
interface TracedFailure {
  readonly delivery: BackendDelivery;
  readonly planned: PlannedHandler;
  readonly error: unknown;
  /** Undefined if no handler had the message. */
  readonly span?: SafeProcess | undefined;
}

const decisions = [RetryLater, Park, Reject, Drop, Unavailable];

/** The error of a span. What a handler throws to decide about its message is none. */
export function errorOf(error: unknown): TracedError | undefined {
  const isDecision = decisions.some((decision) => error instanceof decision);
  return isDecision ? undefined : describeError(error);
}

/** Adds the span of this attempt to the headers of the next one. */
export const withSpan = (headers: FieldTable, span: SafeProcess | undefined): FieldTable =>
  span?.header === undefined ? headers : new Map(headers).set(traceHeaders.attempt, longstr(span.header));

/** The reason of a message that no handler got. The error of a handler is in its span. */
const refusalOf = (error: unknown, span: SafeProcess | undefined): TracedError | undefined =>
  span === undefined ? errorOf(error) : undefined;

/** The spans of what becomes of failed messages. */
export class TracedOutcomes {
  constructor(
    private readonly tracing: SafeTracing,
    private readonly backend: Backend,
  ) {}

  /** A message was rejected. If its queue is known to have no dead-letter exchange, the message is gone. */
  rejected({ delivery, error, span }: Omit<TracedFailure, 'planned'>, since: number): void {
    const { queue, message } = delivery;
    const to = this.backend.deadLetterExchange?.(queue);
    const isDeadLetter = to !== undefined || this.backend.deadLetterExchange === undefined;
    const [attempt, refusal] = [attemptOf(message, queue), refusalOf(error, span)];
    this.tracing.moved({ kind: 'reject', message, queue, to, isDeadLetter, attempt, since, refusal }, span);
    span?.end('rejected', errorOf(error));
  }

  /** A successor was published, or refused. */
  replaced(
    { delivery, planned, error, span }: TracedFailure,
    outcome: RetryOutcome,
    since: number,
    failure?: Error,
  ): void {
    const { message, queue } = delivery;
    const { kind, attempt } = outcome;
    const moved =
      kind === 'parked'
        ? ({ kind: 'park', to: outcome.queue, isDeadLetter: failure === undefined } as const)
        : ({ kind: 'retry', to: planned.queue, isDeadLetter: false, delay: outcome.delay } as const);
    const refusal = refusalOf(error, span);
    const failed = failure && { failure: describeError(failure) };
    this.tracing.moved({ ...moved, message, queue, attempt, since, refusal, ...failed }, span);
    if (failure === undefined) span?.end(kind, errorOf(error));
  }

  /** A message is held for later, as the same attempt. */
  held({ delivery, planned, error, span }: TracedFailure, delay: number, since: number, failure?: Error): void {
    const { message, queue } = delivery;
    const attempt = attemptOf(message, queue);
    const failed = failure && { failure: describeError(failure) };
    const moved = { kind: 'retry', to: planned.queue, isDeadLetter: false, delay } as const;
    this.tracing.moved({ ...moved, message, queue, attempt, since, refusal: refusalOf(error, span), ...failed }, span);
    if (failure === undefined) span?.end('held', errorOf(error));
  }

  /** The time of the machine. */
  now(): number {
    return timeOfMove();
  }
}
