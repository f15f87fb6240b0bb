export type { DlxBrokerAsyncOptions, DlxBrokerOptionsFactory } from './module/async-options.js';
export { type BrokerCounts, DlxBroker } from './module/broker.js';
export { CaptureErrors } from './handlers/capture.js';
export {
  type CircuitOptions,
  type CircuitState,
  DlxHandler,
  type HandlerStatus,
  type HealthProbe,
  type HandlerPauseOptions,
} from './features/circuit/index.js';
export * from './client/client.js';
export type { DlxClientOptions } from './client/client-options.js';
export { ClientClosedError } from './client/client-state.js';
export type { BrokerChoice } from './brokers/made.js';
export { givenBackend } from './brokers/given.js';
export { customBackend, type CustomBackend } from './brokers/given.js';
export { embedded, type EmbeddedBroker, type EmbeddedBrokerOptions } from './brokers/embedded.js';
export type { ListenOptions } from './brokers/listen.js';
export { rabbitmq, type RabbitMqBroker, type RabbitMqBrokerOptions } from './brokers/rabbitmq.js';
export { sharedBroker, type SharedBroker, type SharedBrokerOptions } from './brokers/given.js';
export * from './core/context.js';
export * from './features/contract/index.js';
export type { Death } from './death-hooks/death.js';
export * from './decorators/index.js';
export * from './module/dlx-broker.module.js';
export type { DlxFeatureOptions } from './module/feature.js';
export type { EmitOptions } from './client/client-options.js';
export type { DlxHealth, HealthProblem, HealthResult, OldestDeadLetter, StuckHandler } from './health/index.js';
export { HandlerTimeoutError } from './core/handler-timeout-error.js';
export { dlxHeaders } from './core/headers.js';
export * from './features/idempotent/index.js';
export type { NamedExchange } from './core/handler-settings.js';
export * from './module/options.js';
export type { OutcomeEvent } from './core/outcome-events.js';
export * from './core/outcomes.js';
export { OutboxClosedError } from './features/outbox/collector.js';
export type { OutboxOptions } from './features/outbox/limits.js';

export * from './core/payload.js';
export { type PauseOptions, QueueControl } from './module/queue-control.js';
export * from './client/record-builder.js';
export { RequestTimeoutError } from './client/request-timeout.js';
export type { SendOptions } from './client/client-options.js';
export { DlxServer, getDlxTransportId } from './module/server.js';
export type { HandlerCounts } from './core/handler-counts.js';
export type { DlxStatus } from './client/client-state.js';
export * from './module/tokens.js';
