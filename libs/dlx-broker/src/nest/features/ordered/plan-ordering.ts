import { DlxConfigurationError, refused } from '../../../platform/options/index.js';
import type { PlannedHandler } from '../../core/handler.js';
import type { QueueOrdering } from './queue-ordering.js';
import { settingOf } from '../../core/handler-settings.js';
import { orderedDecorator, type Ordering } from './decorator.js';
import { timeoutArgument } from '../../core/consumer-timeout.js';
import { timeInHand } from './time-in-hand.js';

/**
 * How a queue keeps order, from all its handlers. They share the lanes: a key is the same key for all of them.
 * @param prefetch the most handlers at work, 0 for no limit
 * @returns undefined for handlers without `@Ordered`
 * @throws DlxConfigurationError when one of them has no order or another window, or a policy that waits for too long
 */
export function planOrdering(
  queue: string,
  handlers: readonly PlannedHandler[],
  prefetch: number,
): QueueOrdering | undefined {
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
