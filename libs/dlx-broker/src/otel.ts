/*
 * The entry point for traces by OpenTelemetry. It needs the package @opentelemetry/api, which no other entry loads.
 */

// Tracing
export { dlxTracing, type DlxTracingOptions } from './nest/otel/index.js';

// Other tracing libraries
export type {
  DlxTracing,
  Move,
  ProcessOutcome,
  ProcessSpan,
  PublishSpan,
  RedriveSpan,
  TracedAttempt,
  TracedError,
} from './nest/tracing/index.js';
