/*
 * The entry point for traces by OpenTelemetry. It needs the package @opentelemetry/api, which no other entry loads.
 */

// Tracing
export { dlxTracing, type DlxTracingOptions } from './otel/index.js';
export type { DlxTracing } from './tracing/index.js';
