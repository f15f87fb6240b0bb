import type { Backend } from '../../../backends/index.js';
import { labelled } from '../../../server/metrics/index.js';
import type { Feature, FeatureMetric } from '../../core/feature.js';
import type { MessageOrder } from '../../core/handler.js';
import type { Settlement } from '../../core/settlement.js';
import type { EventLog } from '../../log/event-log.js';
import { settingOf } from '../../core/handler-settings.js';
import { orderedDecorator } from './decorator.js';
import { orderWarnings } from './order-warnings.js';
import { OrderedQueue } from './ordered-queue.js';
import { planOrdering } from './plan-ordering.js';
import { refuseTooLong } from './time-in-hand.js';

interface OrderedFeature extends Feature {
  readonly orders: () => Iterable<MessageOrder>;
}

/** What `@Ordered` needs of its broker. */
interface OrderedParts {
  readonly backend: Pick<Backend, 'clock'>;
  readonly settlement: () => Settlement;
  readonly log: EventLog;
  readonly orders: OrderedFeature['orders'];
}

const perQueue = (name: string, help: string, read: (of: OrderedQueue) => number): FeatureMetric<OrderedFeature> =>
  labelled(name, 'gauge', ['broker', 'handler', 'queue'], help, function* ({ broker, feature }) {
    for (const order of feature.orders()) {
      if (order instanceof OrderedQueue) yield { labels: [broker, order.handler, order.queue], value: read(order) };
    }
  });

export const orderedMetrics: readonly FeatureMetric<OrderedFeature>[] = [
  perQueue('dlx_ordered_lanes', '@Ordered: keys with messages in hand', ({ lanes }) => lanes),
  perQueue('dlx_ordered_held', '@Ordered: messages that wait in hand for another attempt', ({ held }) => held),
  perQueue('dlx_ordered_in_hand', '@Ordered: messages in hand', ({ inHand }) => inHand),
  perQueue('dlx_ordered_window', '@Ordered: the most messages in hand', ({ window }) => window),
];

/** Handles the messages of a key one at a time and in order (`@Ordered`). */
export const ordered = ({ backend, settlement, log, orders }: OrderedParts): OrderedFeature => ({
  name: 'ordered',
  orders,
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
