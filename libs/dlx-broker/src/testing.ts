/*
 * The kit for tests: an application, or a broker alone, in a time that the test moves.
 */

// Applications
export {
  DlxTesting,
  type DlxTestingCreateOptions,
  type DlxTestingOptions,
  type SettledOptions,
  UnsettledError,
} from './nest/testing/dlx-testing.js';
export type { CircuitView } from './nest/testing/circuit-view.js';
export type { TransportOptions } from './nest/index.js';

// Queues
export { ExpectationError, type QueueExpectation } from './nest/testing/expectations.js';
export { QueueView, type WaitingMessage } from './nest/testing/queue-view.js';

// Brokers
export { harness, type Harness, type HarnessOptions } from './nest/testing/harness.js';
export { CountedNames } from './nest/testing/counted-names.js';
export { ManualClock, startOfTime } from './nest/testing/manual-clock.js';
