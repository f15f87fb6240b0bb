/*
 * The front door for users of Nest: the module, its decorators, the client, and the types they speak. Operators on
 * streams of dead letters are in `dlx-broker/streams`, the broker without Nest in `dlx-broker/engine`, a broker for
 * other processes in `dlx-broker/server`, traces in `dlx-broker/otel`, the kit for tests in `dlx-broker/testing`. What is not named here is
 * internal.
 *
 * The comment above a group is its heading in docs/reference/exports.md. `npm run api` renews that page and the report
 * test/api/dlx-broker.api.md.
 */

// The module
export {
  type BrokerCounts,
  DlxBroker,
  type DlxBrokerAsyncOptions,
  DlxBrokerModule,
  type DlxBrokerOptions,
  type DlxBrokerOptionsFactory,
  DlxClient,
  DlxBatchContext,
  DlxContext,
  type DlxHandler,
  type DlxHealth,
  DlxServer,
  type HandlerStatus,
  type OutcomeEvent,
  type QueueControl,
} from './nest/index.js';

// Where the broker is
export { type BrokerChoice, customBackend, embedded, rabbitmq, sharedBroker } from './nest/index.js';

// Decorators of handlers
export {
  Answer,
  Bind,
  CaptureErrors,
  Batch,
  Circuit,
  Consume,
  ConsumerPriority,
  type ContractDecorator,
  DeadLetter,
  Exchange,
  Expires,
  HandlerAsync,
  type HealthProbe,
  Idempotent,
  MaxLength,
  MaxLengthBytes,
  MaxPriority,
  OnDeadLetter,
  Ordered,
  On,
  Prefetch,
  Queue,
  QueueArguments,
  Quorum,
  RateLimit,
  Retry,
  SingleActiveConsumer,
  Ttl,
} from './nest/index.js';
export type { RetryPolicy } from './nest/retry/index.js';

// What a handler may throw
export { Drop, Park, Reject, RetryLater, Unavailable } from './nest/index.js';

// Messages
export { type Death, type DlxRecord, DlxRecordBuilder } from './nest/index.js';
export type { DeathNotice } from './nest/retry/index.js';
export type { XDeath } from './nest/streams/index.js';

// Contracts
export { event, type EventContract, request, type RequestContract, type StandardSchema } from './nest/index.js';

// Injection
export { getDlxToken, getDlxTransportId, InjectDlx } from './nest/index.js';

// Queues without a handler
export {
  binding,
  type BindingOption,
  queue,
  type QueueOption,
  type Topology,
  type TopologyOption,
} from './backends/topology/index.js';

// Dead letters and redrives
export { DeadLetters, type RedriveProgress, Redrives, type RedriveTask } from './nest/streams/index.js';

// What the classes above give, by name
export type { DlxStatus } from './nest/index.js';
export type { ErrorEntry } from './platform/history/index.js';
export type { QueuePause } from './backends/index.js';
export type { ConsumedLetter } from './nest/streams/index.js';

// Idempotency
export { type IdempotencyStore, MemoryIdempotencyStore, RedisIdempotencyStore } from './nest/index.js';

// Errors
export {
  ClientClosedError,
  ContractError,
  HandlerTimeoutError,
  IdempotencyStoreError,
  RequestTimeoutError,
} from './nest/index.js';
export { Outbox, OutboxClosedError } from './nest/index.js';
export { UndecodablePayloadError } from './platform/history/index.js';
export { RefusedError, TopologyError, UnroutableError } from './backends/index.js';
export { DlxConfigurationError } from './platform/options/index.js';
