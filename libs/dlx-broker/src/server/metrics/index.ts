export { Meter, type MeteredSource, type MeterParts } from './meter.js';
export { metricsResources } from './http/metrics-listener.js';
export { MetricsListener, type MetricsOptions } from './http/metrics-listener.js';
export type {
  HandlerNumbers,
  LetterNumbers,
  MeteredBroker,
  MeteredHandlers,
  MeteredJournal,
  MeteredMachine,
  OrderedNumbers,
} from './source.js';
export { type PageRequest, pageOf } from './pages.js';
export { metricTable } from './table.js';
export { type AnyRegistry, registerMetrics } from './registry.js';
