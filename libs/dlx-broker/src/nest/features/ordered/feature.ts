import type { Backend } from '../../../backends/index.js';
import type { Feature } from '../../core/feature.js';
import type { Settlement } from '../../core/settlement.js';
import type { EventLog } from '../../log/event-log.js';
import { settingOf } from '../../core/handler-settings.js';
import { orderedDecorator } from './decorator.js';
import { orderWarnings } from './order-warnings.js';
import { OrderedQueue } from './ordered-queue.js';
import { planOrdering } from './plan-ordering.js';
import { refuseTooLong } from './time-in-hand.js';

/** Handles the messages of a key one at a time and in order (`@Ordered`). */
export const ordered = (backend: Pick<Backend, 'clock'>, settlement: () => Settlement, log: EventLog): Feature => ({
  name: 'ordered',
  keepsInHand: (handler) => settingOf(handler, orderedDecorator) !== undefined,
  ordering(queue, handlers, prefetch) {
    const ordering = planOrdering(queue, handlers, prefetch);
    return (
      ordering && {
        window: ordering.window,
        of(known) {
          if (!(known instanceof OrderedQueue)) return new OrderedQueue(queue, ordering, backend, settlement(), log);
          known.update(ordering);
          return known;
        },
        check(connected) {
          for (const inHand of ordering.timesInHand) refuseTooLong(inHand, connected);
        },
      }
    );
  },
  warnings: (planned, declares) =>
    orderWarnings(planned, declares).map((text) => ({ event: 'orderAtRisk', text }) as const),
});
