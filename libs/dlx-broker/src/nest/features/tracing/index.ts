import type { Backend } from '../../../backends/index.js';
import { attemptOf, traceHeaders } from '../../../platform/history/index.js';
import { longstr } from '../../../engine/message/index.js';
import { describeError } from '../../core/failure.js';
import type { Handling, Taken } from '../../core/handler.js';
import type { Feature, Settled } from '../../core/feature.js';
import { Drop, Park, Reject, RetryLater, Unavailable } from '../../core/outcomes.js';
import type { Move, SafeProcess, SafeTracing, TracedError } from '../../tracing/index.js';

/** A span for each attempt, and for each move of a message that failed (option `tracing`). */
export function tracing(tracing: SafeTracing | undefined, backend: Pick<Backend, 'deadLetterExchange'>): Feature {
  if (tracing === undefined) return { name: 'tracing' };
  const spans = new WeakMap<Handling, SafeProcess>();
  const spanOf = ({ handling }: Taken): SafeProcess | undefined => handling && spans.get(handling);
  return {
    name: 'tracing',

    step:
      ({ handler }) =>
      async (attempt, next) => {
        const { delivery, context } = attempt;
        const span = tracing.startProcess({
          message: delivery.message,
          queue: delivery.queue,
          handler: handler.origin,
          attempt: context.attempt,
          metadata: context.dispatched(),
        });
        if (span === undefined) return next();
        spans.set(attempt, span);
        const outcome = await span.run(next);
        span.handled();
        return outcome;
      },

    headers(failed, _, before) {
      const header = spanOf(failed)?.header;
      return header === undefined ? before : new Map(before).set(traceHeaders.attempt, longstr(header));
    },

    settled(taken, settled) {
      const span = spanOf(taken);
      const error = 'error' in settled ? errorOf(settled.error) : undefined;
      const move = moveOf(taken, settled, backend);
      // The reason of a message that no handler got. The error of a handler is in its span.
      if (move !== undefined) tracing.moved({ ...move, refusal: span === undefined ? error : undefined }, span);
      if (settled.failure === undefined) span?.end(settled.kind, error);
    },
  };
}

const decisions = [RetryLater, Park, Reject, Drop, Unavailable];

/** The error of a span. What a handler throws to decide about its message is none. */
function errorOf(error: unknown): TracedError | undefined {
  const isDecision = decisions.some((decision) => error instanceof decision);
  return isDecision ? undefined : describeError(error);
}

/** The new place of a message; undefined if it was not moved. */
function moveOf(
  { delivery: { message, queue } }: Taken,
  { kind, to, attempt, delay, failure, since }: Settled,
  backend: Pick<Backend, 'deadLetterExchange'>,
): Move | undefined {
  if (since === undefined) return undefined;
  if (kind === 'rejected') {
    const exchange = backend.deadLetterExchange?.(queue);
    // If its queue is known to have no dead-letter exchange, the message is gone.
    const isDeadLetter = exchange !== undefined || backend.deadLetterExchange === undefined;
    return { kind: 'reject', message, queue, to: exchange, isDeadLetter, attempt: attemptOf(message, queue), since };
  }
  return {
    kind: kind === 'parked' ? 'park' : 'retry',
    message,
    queue,
    to,
    isDeadLetter: kind === 'parked' && failure === undefined,
    since,
    ...(delay !== undefined && { delay }),
    ...(attempt !== undefined && { attempt }),
    ...(failure !== undefined && { failure: describeError(failure) }),
  };
}
