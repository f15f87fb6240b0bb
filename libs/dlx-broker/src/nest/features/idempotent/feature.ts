import type { Clock } from '../../../engine/broker/index.js';
import type { Feature } from '../../core/feature.js';
import type { EventLog } from '../../log/event-log.js';
import { IdempotencyGuard } from './guard.js';
import { MemoryIdempotencyStore } from './memory-store.js';
import type { IdempotencyStore } from './store.js';

/** Handles each message once (`@Idempotent`). @param ofModule the option `idempotencyStore` */
export function idempotent(ofModule: IdempotencyStore | undefined, clock: Clock, log: EventLog): Feature {
  const now = (): number => clock.now();
  const guard = new IdempotencyGuard(ofModule ?? new MemoryIdempotencyStore(now), log, now);
  return { name: 'idempotent', step: (planned) => guard.step(planned) };
}
