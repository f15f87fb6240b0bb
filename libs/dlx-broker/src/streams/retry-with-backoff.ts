import { mergeMap } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { RetryOutcome } from '../backend/index.js';
import { planRetry } from '../topology/index.js';
import type { RetryPlan, RetryPolicy } from '../topology/index.js';
import type { DeadLetter } from './dead-letter.js';

/** A letter that was sent back or parked, and which of the two. */
export interface RetriedLetter<T> {
  readonly letter: DeadLetter<T>;
  readonly outcome: RetryOutcome;
}

/**
 * Sends every letter back to its work queue, after a wait that grows with its failures there, and parks it when the
 * attempts are used up. Emits what it did once the broker has the letter. A letter that can neither be sent back nor
 * parked fails the stream: it and everything unsettled goes back to the queue.
 * @param random draws the step of a jitter; `Math.random` by default
 * @throws DlxConfigurationError at once for a policy that can never work
 */
export function retryWithBackoff<T>(
  policy: RetryPolicy,
  random: () => number = Math.random,
): OperatorFunction<DeadLetter<T>, RetriedLetter<T>> {
  const planFor = (queue: string): RetryPlan => planRetry(policy, { queue, origin: 'retryWithBackoff', random });
  planFor('*');
  return mergeMap(async (letter): Promise<RetriedLetter<T>> => {
    const plan = planFor(letter.workQueue);
    const attempt = Math.max(1, letter.failures);
    if (attempt >= plan.attempts) {
      await letter.park(plan.parkingLot);
      return { letter, outcome: { kind: 'parked', queue: plan.parkingLot, attempt, why: 'attempts' } };
    }
    const delay = plan.delayBefore(attempt + 1);
    await letter.retryIn(delay);
    return { letter, outcome: { kind: 'retried', delay, attempt } };
  });
}
