import type { Clock } from '../../../engine/broker/index.js';
import { DlxConfigurationError } from '../../../platform/options/index.js';
import type { Feature } from '../../core/feature.js';
import type { EventLog } from '../../log/event-log.js';
import type { Handler } from '../../core/handler.js';
import { settingOf } from '../../core/handler-settings.js';
import { idempotentDecorator } from './decorator.js';
import { IdempotencyGuard } from './guard.js';
import { MemoryIdempotencyStore } from './memory-store.js';
import type { IdempotencyStore } from './store.js';

/** Handles each message once (`@Idempotent`). @param ofModule the option `idempotencyStore` */
export function idempotent(ofModule: IdempotencyStore | undefined, clock: Clock, log: EventLog): Feature {
  const now = (): number => clock.now();
  const guard = new IdempotencyGuard(ofModule ?? new MemoryIdempotencyStore(now), log, now);
  return {
    name: 'idempotent',
    check: (_, handlers) => handlers.forEach(refuseRequests),
    step: (planned) => guard.step(planned),
  };
}

function refuseRequests(handler: Handler): void {
  if (handler.kind !== 'request' || settingOf(handler, idempotentDecorator) === undefined) return;
  throw new DlxConfigurationError(
    `@Idempotent on ${handler.origin}: a request wants an answer each time; put it on events, or keep the answers yourself`,
  );
}
