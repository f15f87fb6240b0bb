/*
 * The entry point for the metrics of an application that has a registry of prom-client, which this entry uses as types only.
 */

// Metrics
export { registerDlxMetrics } from './register-metrics.js';
export type { AnyRegistry } from './metrics/index.js';
