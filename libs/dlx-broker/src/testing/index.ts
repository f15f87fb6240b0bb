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
} from './dlx-testing.js';
export type { CircuitView } from './circuit-view.js';
export type { TransportOptions } from '../nest/index.js';

// Queues
export { ExpectationError, type QueueExpectation } from './expectations.js';
export { QueueView, type WaitingMessage } from './queue-view.js';

// Brokers
export { harness, type Harness, type HarnessOptions } from './harness.js';
export { CountedNames } from './counted-names.js';
export { ManualClock, startOfTime } from './manual-clock.js';
