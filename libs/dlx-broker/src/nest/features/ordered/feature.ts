import { refusesWhenFull } from '../../../engine/broker/index.js';
import type { Backend } from '../../../backends/index.js';
import { DlxConfigurationError, refused } from '../../../platform/options/index.js';
import { timeoutArgument } from '../../core/consumer-timeout.js';
import type { Feature, FeatureMetric } from '../../core/feature.js';
import { settingOf } from '../../core/handler-settings.js';
import type { MessageOrder, PlannedHandler } from '../../core/handler.js';
import type { Settlement } from '../../core/settlement.js';
import type { EventLog } from '../../log/event-log.js';
import { orderedDecorator, type Ordering } from './decorator.js';
import { OrderedQueue } from './ordered-queue.js';
import { type QueueOrdering, refuseTooLong, timeInHand } from './time-in-hand.js';

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

const perQueue = (
  name: string,
  help: string,
  valueOf: (of: OrderedQueue) => number,
): FeatureMetric<OrderedFeature> => ({
  name,
  type: 'gauge',
  labels: ['broker', 'handler', 'queue'],
  help,
  *read({ broker, feature }) {
    for (const order of feature.orders()) {
      if (order instanceof OrderedQueue) yield { labels: [broker, order.handler, order.queue], value: valueOf(order) };
    }
  },
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
  waiting(queue) {
    let count = 0;
    for (const order of orders()) if (order.queue === queue) count += order.waiting;
    return count;
  },
  warnings: (planned, declares) =>
    orderWarnings(planned, declares).map((text) => ({ event: 'orderAtRisk', text }) as const),
});

const limits = ['x-max-length', 'x-max-length-bytes'];

/**
 * The warnings for a handler that keeps an order.
 * @param declares false: the application declares no queue (option `declare`)
 */
function orderWarnings({ handler, queue }: PlannedHandler, declares: boolean): readonly string[] {
  const { queueArguments, queue: asked } = handler.settings;
  if (settingOf(handler, orderedDecorator) === undefined) return [];
  const warnings: string[] = [];
  const refuses = refusesWhenFull(queueArguments.get('x-overflow')?.value);
  if (!refuses && limits.some((name) => queueArguments.has(name))) {
    warnings.push(
      `@Ordered on ${handler.origin}: queue '${queue}' drops its first messages when it is full, and so the earlier messages of a key; ` +
        "write { overflow: 'reject-publish' } behind the limit",
    );
  }
  if (!declares || asked.declare === false) {
    warnings.push(
      `@Ordered on ${handler.origin}: queue '${queue}' is not declared here, so nothing checks that it has x-single-active-consumer; ` +
        'without it two instances of the application handle a key at the same time',
    );
  }
  return warnings;
}

/**
 * How a queue keeps order, from all its handlers. They share the lanes: a key is the same key for all of them.
 * @param prefetch the most handlers at work, 0 for no limit
 * @returns undefined for handlers without `@Ordered`
 * @throws DlxConfigurationError when one of them has no order or another window, or a policy that waits for too long
 */
function planOrdering(queue: string, handlers: readonly PlannedHandler[], prefetch: number): QueueOrdering | undefined {
  const ordered = handlers.filter(({ handler }) => settingOf(handler, orderedDecorator) !== undefined);
  const [first] = ordered;
  if (first === undefined) return undefined;
  const without = handlers.find(({ handler }) => settingOf(handler, orderedDecorator) === undefined);
  if (without !== undefined) {
    throw new DlxConfigurationError(
      `queue '${queue}': ${first.handler.origin} has @Ordered and ${without.handler.origin} has not, and a queue keeps the order of all ` +
        'its messages or of none; add @Ordered, or give one of them a queue of its own',
    );
  }
  const { window, holdAtMost } = settingOf(first.handler, orderedDecorator)!;
  refuseDifferent(queue, ordered, 'window');
  refuseDifferent(queue, ordered, 'holdAtMost');
  const timeout = ordered.map(({ handler }) => {
    const value = handler.settings.queueArguments.get(timeoutArgument)?.value;
    if (typeof value !== 'number' || value > 0) return value;
    const argument = `@QueueArguments on ${handler.origin}: '${timeoutArgument}'`;
    throw refused(
      value,
      argument,
      'is no number of milliseconds above 0; write 1_800_000 for half an hour, or leave it out',
    );
  });
  const consumerTimeout = timeout.find((value) => typeof value === 'number');
  const timesInHand = ordered.map(({ handler: { origin }, retry }) =>
    timeInHand({ retry, holdAtMost, consumerTimeout, origin: `@Ordered on ${origin}` }),
  );
  return {
    handler: first.handler.origin,
    window,
    atWork: prefetch === 0 ? window : Math.min(prefetch, window),
    holdAtMost,
    timesInHand,
  };
}

function refuseDifferent(
  queue: string,
  handlers: readonly PlannedHandler[],
  option: Exclude<keyof Ordering, 'key'>,
): void {
  const claims = handlers.map(({ handler }) => ({
    origin: handler.origin,
    value: settingOf(handler, orderedDecorator)?.[option],
  }));
  const [first] = claims;
  const other = claims.find(({ value }) => value !== first?.value);
  if (first === undefined || other === undefined) return;
  throw new DlxConfigurationError(
    `queue '${queue}': its handlers differ in ${option} of @Ordered: ${first.origin} says ${first.value}, ${other.origin} says ${other.value}`,
  );
}
