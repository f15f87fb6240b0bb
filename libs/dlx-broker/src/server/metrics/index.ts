export { Meter, type MeteredSource, type MeterParts } from './meter.js';
export { metricsResources } from './metrics-listener.js';
export { MetricsListener, type MetricsOptions } from './metrics-listener.js';
export type {
  HandlerNumbers,
  LetterNumbers,
  MeteredBroker,
  MeteredHandlers,
  MeteredJournal,
  MeteredMachine,
} from './source.js';
export { type PageRequest, pageOf } from './pages.js';
export { metricTable } from './pages.js';
export type { Metric } from './family.js';
export { type AnyRegistry, registerMetrics } from './registry.js';
