import { mergeMap, type OperatorFunction } from 'rxjs';
import {
  decideRetry,
  isNotRetryable,
  isUnsendable,
  NotedFailure,
  type ParkedFor,
  planRetry,
  type RetryOutcome,
  type RetryPlan,
  type RetryPolicy,
} from '../retry/index.js';

import { DlxConfigurationError } from '../../platform/options/index.js';

import type { ConsumedLetter } from './consumed-letter.js';
import { checkFunction } from './given.js';

/** A letter that was retried or parked. */
export interface RetriedLetter<L extends ConsumedLetter = ConsumedLetter> {
  readonly letter: L;
  readonly outcome: RetryOutcome;
}

/**
 * Sends every letter back to its work queue, after a wait that grows with its failures there, and parks it as `@Retry` does:
 * when the attempts or the deadline are used up, or when its error is not worth another attempt. The error is known by its
 * headers `dlx-error-class` and `dlx-error-message` only: tests of the policy get a {@link NotedFailure}, or undefined for a
 * letter without them. A letter whose headers leave no room for the number of its attempt is parked. Emits what it did once the
 * broker has the letter. A letter that can neither be sent back nor parked
 * fails the stream: it and everything unsettled goes back to the queue.
 * @param random draws the step of a jitter; `Math.random` by default
 * @throws DlxConfigurationError at once for a policy that can never work, for one with a `timeout`, because no handler runs here, and for
 *   one with `parkFor`, because the stream does not declare the parking lot
 */
export function retryWithBackoff<L extends ConsumedLetter>(
  policy: RetryPolicy,
  random: () => number = Math.random,
): OperatorFunction<L, RetriedLetter<L>> {
  const planFor = (queue: string): RetryPlan =>
    planRetry(policy, { queue, origin: 'retryWithBackoff', random, neverRetry: isNotRetryable });
  planFor('*');
  checkFunction(random, 'retryWithBackoff: random', '() => Math.random()');
  if (policy.timeout !== undefined) throw new DlxConfigurationError(noTimeout);
  if (policy.parkFor !== undefined) throw new DlxConfigurationError(noRetention);
  return mergeMap(async (letter): Promise<RetriedLetter<L>> => {
    const plan = planFor(letter.workQueue);
    const attempt = Math.max(1, letter.failures);
    const { error, failingSince, clock } = letter;
    const failed = {
      attempt,
      error: error && new NotedFailure(error.name, error.message),
      now: clock.now(),
      failingSince: failingSince?.getTime(),
    };
    const decision = decideRetry(plan, failed, (delay) => letter.nearestWait(delay));
    if (decision.kind === 'park') return park(letter, plan, attempt, decision);
    const { delay } = decision;
    try {
      await letter.retryIn(delay);
    } catch (failure) {
      if (!isUnsendable(failure as Error) || !letter.open) throw failure;
      return park(letter, plan, attempt, { why: 'headers' });
    }
    return { letter, outcome: { kind: 'retried', delay, attempt } };
  });
}

async function park<L extends ConsumedLetter>(
  letter: L,
  { parkingLot: queue }: RetryPlan,
  attempt: number,
  { why, fault }: { readonly why: ParkedFor; readonly fault?: unknown },
): Promise<RetriedLetter<L>> {
  await letter.park(queue);
  return { letter, outcome: { kind: 'parked', queue, attempt, why, ...(fault === undefined ? {} : { fault }) } };
}

const noTimeout =
  'retryWithBackoff: timeout limits an attempt of a handler, and none runs in a stream; leave it out here and set it in ' +
  'the @Retry of the handler of the work queue';

const noRetention =
  'retryWithBackoff: parkFor is an argument of the parking lot, which a stream does not declare; leave it out here and set it in ' +
  'the @Retry of the handler of the work queue';
