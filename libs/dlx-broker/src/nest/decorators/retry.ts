import type { RetryPolicy } from '../../topology/index.js';
import { contribute } from './contribution.js';

/**
 * Handles a message again when its handler fails, after a wait and a bounded number of times; then it is parked. It
 * needs no dead-letter exchange. A message whose acknowledgement is lost is handled twice: handlers must be idempotent.
 * @param policy false: no retries, whatever the module's option `retry` says
 */
export const Retry = (policy: RetryPolicy | false): MethodDecorator => contribute('Retry', { policy });
