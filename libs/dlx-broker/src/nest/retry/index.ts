export { type Backoff, planWaits, type Schedule, type Wait } from './backoff.js';
export { decideRetry, type ParkedFor } from './decision.js';
export { DelayedPublisher, parseDelay } from './delayed-publisher.js';
export { InHandDelivery, type InHandHome } from './in-hand-delivery.js';
export { anyOf, type ErrorTests } from './policy.js';
export { isNotRetryable, markUnretryable } from './not-retryable.js';
export { NotedFailure } from './not-retryable.js';
export { parkingLotOf } from './parking-lot.js';
export { planRetry, type RetryPlan, type RetryPolicy } from './policy.js';
export {
  type Attempted,
  type Decided,
  type Failure,
  park,
  redrive,
  redriveAddress,
  type Republished,
  retryIn,
  retryOrPark,
  type RetryOutcome,
  UnknownOriginError,
  UnprovenOriginError,
  waitOf,
} from './republish.js';
export { isUnsendable, type LeftOut } from './shorter-headers.js';
export { lotText, type Retention, retentionPolicy, retentionText } from './retention.js';
export { stepUp } from './steps.js';
export { describeRetry, rejectArgumentNames, rejectArguments, type RetryStyle, styleOf } from './style.js';
export {
  delaysAtStart,
  isWaitQueueName,
  mostWaitQueues,
  waitQueueName,
  waitQueueTopology,
  type WaitQueueType,
} from './wait-queue-names.js';
export { WaitQueues } from './wait-queues.js';
export { type DeathNotice, Notices } from './notices.js';
