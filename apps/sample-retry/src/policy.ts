import type { RetryPolicy } from 'dlx-broker';

/** Four attempts, half a second after the first, then one, then two; then the message is parked. */
export const policy: RetryPolicy = { attempts: 4, backoff: { type: 'exponential', delay: 500 } };

/** What the library works out by itself; here for the timeline only. */
export const whatNext = (attempt: number): string =>
  attempt < policy.attempts ? `again in ${500 * 2 ** (attempt - 1)} ms` : 'that was the last attempt';
