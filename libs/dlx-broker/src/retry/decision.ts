import type { RetryPlan } from './policy.js';

/**
 * Why a message was parked: its attempts or its time are used up, its error is not worth another attempt, the handler asked
 * for it, or a function of its policy (`retryOn`, `neverRetry`, `backoff`) failed itself.
 */
export type ParkedFor = 'attempts' | 'deadline' | 'error' | 'asked' | 'policy';

/** What is known of an attempt that failed. Times in milliseconds since 1970. */
export interface FailedAttempt {
  /** 1 is the first. */
  readonly attempt: number;
  /** What it failed with: as it was thrown, or a {@link NotedFailure}; undefined when nothing tells. */
  readonly error: unknown;
  readonly now: number;
  /** When the message failed for the first time; undefined, or not yet: now. */
  readonly failingSince: number | undefined;
  /** The wait its handler asked for, in milliseconds: it takes the place of `retryOn`, `neverRetry` and `backoff`. */
  readonly asked?: number | undefined;
}

/** What becomes of a message that failed. `fault`: what a function of the policy threw, beside the error of the attempt. */
export type RetryDecision =
  | { readonly kind: 'retry'; readonly delay: number }
  | { readonly kind: 'park'; readonly why: ParkedFor; readonly fault?: unknown };

/**
 * The one place that decides, for handlers and for streams. It has no effect and never throws: a function of the policy
 * that throws, or answers what is no answer, parks the message, for no attempt may come of it that is not counted.
 * @param nearest the wait there is a queue for, see WaitQueues
 */
export function decideRetry(
  plan: RetryPlan,
  { attempt, error, now, failingSince = now, asked }: FailedAttempt,
  nearest: (delay: number) => number,
): RetryDecision {
  try {
    if (asked === undefined && !plan.retries(error)) return { kind: 'park', why: 'error' };
    if (attempt >= plan.attempts) return { kind: 'park', why: 'attempts' };
    const wanted = asked ?? plan.delayBefore(attempt + 1, error);
    const delay = wanted === 0 ? 0 : nearest(wanted);
    const isLate = plan.deadline !== undefined && now + delay > Math.min(failingSince, now) + plan.deadline;
    return isLate ? { kind: 'park', why: 'deadline' } : { kind: 'retry', delay };
  } catch (fault) {
    return { kind: 'park', why: 'policy', fault };
  }
}
