import type { RetryPlan } from './policy.js';

/**
 * Why a message was parked: its attempts or its time are used up, its error is not worth another attempt, the handler asked
 * for it, a function of its policy (`retryOn`, `neverRetry`, `backoff`) failed itself, or its headers leave no room for the number
 * of its attempt in a frame of the server.
 */
export type ParkedFor = 'attempts' | 'deadline' | 'error' | 'asked' | 'policy' | 'headers';

/** A failed attempt. Times are milliseconds since 1970. */
export interface FailedAttempt {
  /** 1 is the first. */
  readonly attempt: number;
  /** The error as it was thrown, or a {@link NotedFailure}; undefined when the error is unknown. */
  readonly error: unknown;
  readonly now: number;
  /** When the message failed for the first time; undefined when this is the first failure. */
  readonly failingSince: number | undefined;
  /** The wait that the handler asked for, in milliseconds. It replaces `retryOn`, `neverRetry` and `backoff`. */
  readonly asked?: number | undefined;
}

/** Whether a failed message is retried or parked. `fault`: what a function of the policy threw. */
export type RetryDecision =
  | { readonly kind: 'retry'; readonly delay: number }
  | { readonly kind: 'park'; readonly why: Exclude<ParkedFor, 'headers'>; readonly fault?: unknown };

/**
 * Decides about a failed message, for handlers and for streams. It has no effect and never throws. When a function of the policy
 * throws or returns an invalid value, the message is parked: a retry without a valid decision could repeat for ever.
 * @param plan undefined: the message is retried after the wait that was asked for
 * @param lasting returns the delay that has a wait queue, see WaitQueues
 */
export function decideRetry(
  plan: RetryPlan | undefined,
  { attempt, error, now, failingSince = now, asked }: FailedAttempt,
  lasting: (delay: number) => number,
): RetryDecision {
  const waitFor = (wanted: number): number => (wanted === 0 ? 0 : lasting(wanted));
  if (plan === undefined) return { kind: 'retry', delay: waitFor(asked ?? 0) };
  try {
    if (asked === undefined && !plan.retries(error)) return { kind: 'park', why: 'error' };
    if (attempt >= plan.attempts) return { kind: 'park', why: 'attempts' };
    const delay = waitFor(asked ?? plan.delayBefore(attempt + 1, error));
    const isLate = plan.deadline !== undefined && now + delay > Math.min(failingSince, now) + plan.deadline;
    return isLate ? { kind: 'park', why: 'deadline' } : { kind: 'retry', delay };
  } catch (fault) {
    return { kind: 'park', why: 'policy', fault };
  }
}
