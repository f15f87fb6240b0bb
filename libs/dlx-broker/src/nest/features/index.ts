import type { Backend } from '../../backends/index.js';
import type { DlxClient } from '../client/client.js';
import type { DeliveryTimers } from '../core/delivery-timers.js';
import type { MeteredHandlers } from '../../server/metrics/index.js';
import type { Feature, FeatureMetric } from '../core/feature.js';
import type { MessageOrder } from '../core/handler.js';
import type { Settlement } from '../core/settlement.js';
import type { EventLog } from '../log/event-log.js';
import type { ResolvedOptions } from '../module/options.js';
import type { SafeTracing } from '../tracing/index.js';
import type { FeatureDecorator } from '../core/handler-settings.js';
import { asked } from './asked-headers/index.js';
import { batchDecorator } from './batch/decorator.js';
import { batch } from './batch/feature.js';
import { circuitDecorator } from './circuit/decorator.js';
import { circuit, circuitMetrics } from './circuit/feature.js';
import { contractDecorator } from './contract/decorator.js';
import { contracts } from './contract/feature.js';
import type { Circuits } from './circuit/index.js';
import { envelope } from './envelope/feature.js';
import { errorHistory } from './error-history/index.js';
import { idempotent } from './idempotent/feature.js';
import { idempotentDecorator } from './idempotent/decorator.js';
import { ordered, orderedMetrics } from './ordered/feature.js';
import { orderedDecorator } from './ordered/decorator.js';
import { outbox } from './outbox/index.js';
import { outboxDecorator } from './outbox/decorator.js';
import type { OutboxScope } from './outbox/scope.js';
import { rateDecorator } from './rate-limit/decorator.js';
import { rateLimit, type RateLimits } from './rate-limit/feature.js';
import { timeout } from './timeout/index.js';
import { tracing } from './tracing/index.js';

export {
  type CircuitOptions,
  type CircuitState,
  DlxHandler,
  type HandlerPauseOptions,
  type HandlerStatus,
  type HealthProbe,
} from './circuit/index.js';
export { DlxBatchContext } from './batch/batch-context.js';
export { Batch, type BatchOptions } from './batch/decorator.js';
export { Circuit } from './circuit/decorator.js';
export { Answer, type ContractDecorator, On } from './contract/decorator.js';
export * from './contract/index.js';
export { Idempotent } from './idempotent/decorator.js';
export * from './idempotent/index.js';
export { Ordered, type OrderedOptions } from './ordered/decorator.js';
export { OutboxClosedError } from './outbox/collector.js';
export { RateLimit, type RateLimitOptions } from './rate-limit/decorator.js';
export { Outbox, type OutboxOptions } from './outbox/decorator.js';

/** What features need of their broker. */
export interface FeatureParts {
  readonly backend: Backend;
  readonly options: ResolvedOptions;
  readonly log: EventLog;
  readonly timers: DeliveryTimers;
  readonly settlement: () => Settlement;
  readonly tracing: SafeTracing | undefined;
  readonly client: Pick<DlxClient, 'timers'>;
  readonly outboxes: OutboxScope;
  readonly circuits: Circuits;
  readonly rates: RateLimits;
  /** The queues whose messages are kept in an order. */
  readonly orders: () => Iterable<MessageOrder>;
}

/** A feature of handlers: the decorator that it reads, what it measures, and what it does for a broker. */
interface FeatureRow<F extends Feature = Feature> {
  readonly decorator?: FeatureDecorator<unknown>;
  readonly metrics?: readonly FeatureMetric<F>[];
  make(parts: FeatureParts): F;
}

/** For the compiler: the metrics are those of the feature. */
const row = <F extends Feature>(of: FeatureRow<F>): FeatureRow => of;

/** The features of handlers. The step of the first one is the outermost. */
const rows: readonly FeatureRow[] = [
  row({ decorator: circuitDecorator, metrics: circuitMetrics, make: ({ circuits }) => circuit(circuits) }),
  { decorator: rateDecorator, make: ({ rates }) => rateLimit(rates) },
  row({ decorator: orderedDecorator, metrics: orderedMetrics, make: ordered }),
  { make: ({ options, log }) => envelope(options.envelope, log) },
  { make: () => asked },
  { make: ({ options, backend, log }) => errorHistory(options, backend.clock, log) },
  {
    decorator: idempotentDecorator,
    make: ({ options, backend, log }) => idempotent(options.idempotencyStore, backend.clock, log),
  },
  {
    decorator: outboxDecorator,
    make: ({ outboxes, options, settlement }) => outbox(outboxes, options.outbox, settlement),
  },
  { decorator: batchDecorator, make: ({ options, timers }) => batch(options, timers) },
  { make: ({ tracing: port, backend }) => tracing(port, backend) },
  { make: ({ timers }) => timeout(timers) },
  { decorator: contractDecorator, make: ({ client }) => contracts(client.timers) },
];

/** The decorators of features. */
export const featureDecorators = rows.flatMap(({ decorator }) => decorator ?? []);

/** What features measure. */
export const featureMetrics = rows.flatMap(({ metrics }) => metrics ?? []);

export const featuresOf = (parts: FeatureParts): readonly Feature[] => rows.map(({ make }) => make(parts));

/** The metrics of the features of a broker. @param features made by {@link featuresOf} @param broker its name */
export const metricsOf = (features: readonly Feature[], broker: string): MeteredHandlers['added'] =>
  rows.flatMap(({ metrics = [] }, place) =>
    metrics.map((metric) => ({ ...metric, read: () => metric.read({ broker, feature: features[place] as Feature }) })),
  );
