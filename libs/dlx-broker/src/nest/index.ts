export type { DlxBrokerAsyncOptions, DlxBrokerOptionsFactory } from './async-options.js';
export * from './broker.js';
export type { BrokerCounts } from './broker-parts.js';
export { CaptureErrors } from './capture.js';
export {
  type CircuitOptions,
  type CircuitState,
  DlxHandler,
  type HandlerStatus,
  type HealthProbe,
  type HandlerPauseOptions,
} from './circuit/index.js';
export * from './client.js';
export type { DlxClientOptions } from './client-options.js';
export { ClientClosedError } from './client-closed-error.js';
export type { BrokerChoice } from './brokers/made.js';
export { givenBackend } from './brokers/given-backend.js';
export { customBackend, type CustomBackend } from './brokers/custom.js';
export { embedded, type EmbeddedBroker, type EmbeddedBrokerOptions } from './brokers/embedded.js';
export type { ListenOptions } from './brokers/listen.js';
export { rabbitmq, type RabbitMqBroker, type RabbitMqBrokerOptions } from './brokers/rabbitmq.js';
export { sharedBroker, type SharedBroker, type SharedBrokerOptions } from './brokers/shared.js';
export * from './context.js';
export * from './contracts/index.js';
export type { Death } from './death-hooks/death.js';
export * from './decorators/index.js';
export * from './dlx-broker.module.js';
export type { DlxFeatureOptions } from './feature.js';
export type { EmitOptions } from './emit-options.js';
export type { DlxHealth, HealthProblem, HealthResult, OldestDeadLetter, StuckHandler } from './health/index.js';
export { HandlerTimeoutError } from './handler-timeout-error.js';
export { dlxHeaders } from './headers.js';
export * from './idempotency/index.js';
export type { NamedExchange } from './handler-settings.js';
export * from './options.js';
export type { OutcomeEvent } from './outcome-events.js';
export * from './outcomes.js';
export { OutboxClosedError } from './outbox/errors.js';
export type { OutboxOptions } from './outbox/limits.js';

export * from './payload.js';
export { type PauseOptions, QueueControl } from './queue-control.js';
export * from './record-builder.js';
export { RequestTimeoutError } from './request-timeout.js';
export type { SendOptions } from './send-options.js';
export { DlxServer, getDlxTransportId } from './server.js';
export type { HandlerCounts } from './handler-counts.js';
export type { DlxStatus } from './status.js';
export * from './tokens.js';
