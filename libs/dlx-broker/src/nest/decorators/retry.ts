import type { RetryPolicy } from '../retry/index.js';

import { contribute } from './contribution.js';

/**
 * Retries a message whose handler fails, after a wait; after the last attempt the message is parked. The queue needs no dead-letter
 * exchange. A message whose acknowledgement is lost is handled twice, so handlers must be idempotent.
 * @param policy false: no retries, whatever the module's option `retry` says
 */
export const Retry = (policy: RetryPolicy | false): MethodDecorator => contribute('Retry', { policy });
