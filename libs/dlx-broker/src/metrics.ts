/*
 * The entry point for the metrics of an application that has a registry of prom-client.
 */

// Metrics
export { registerDlxMetrics } from './nest/register-metrics.js';
export type { AnyRegistry } from './server/metrics/index.js';
