import type { RetryPolicy } from 'dlx-broker';

/** Four attempts, with pauses of 0.5, 1 and 2 seconds. After the last one the message is parked. */
export const policy: RetryPolicy = { attempts: 4, backoff: { type: 'exponential', delay: 500 } };

/** The library has the same values; these are for the timeline only. */
export const whatNext = (attempt: number): string =>
  attempt < policy.attempts ? `again in ${500 * 2 ** (attempt - 1)} ms` : 'that was the last attempt';
