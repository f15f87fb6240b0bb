import type { Backend } from '../../backends/index.js';
import type { DeliveryTimers } from '../core/delivery-timers.js';
import type { Feature } from '../core/feature.js';
import type { Settlement } from '../core/settlement.js';
import type { EventLog } from '../log/event-log.js';
import type { ResolvedOptions } from '../module/options.js';
import type { SafeTracing } from '../tracing/index.js';
import { circuit } from './circuit/feature.js';
import type { Circuits } from './circuit/index.js';
import { envelope } from './envelope/feature.js';
import { errorHistory } from './error-history/index.js';
import { idempotent } from './idempotent/feature.js';
import { ordered } from './ordered/feature.js';
import { outbox } from './outbox/index.js';
import type { OutboxScope } from './outbox/scope.js';
import { timeout } from './timeout/index.js';
import { tracing } from './tracing/index.js';

/** What features need of their broker. */
export interface FeatureParts {
  readonly backend: Backend;
  readonly options: ResolvedOptions;
  readonly log: EventLog;
  readonly timers: DeliveryTimers;
  readonly settlement: () => Settlement;
  readonly tracing: SafeTracing | undefined;
  readonly outboxes: OutboxScope;
  readonly circuits: Circuits;
}

/** The features of handlers. The step of the first one is the outermost. */
export const featuresOf = (parts: FeatureParts): readonly Feature[] => [
  circuit(parts.circuits),
  ordered(parts.backend, parts.settlement, parts.log),
  envelope(parts.options.envelope, parts.log),
  errorHistory(parts.options, parts.backend.clock, parts.log),
  idempotent(parts.options.idempotencyStore, parts.backend.clock, parts.log),
  outbox(parts.outboxes, parts.options.outbox, parts.settlement),
  tracing(parts.tracing, parts.backend),
  timeout(parts.timers),
];
