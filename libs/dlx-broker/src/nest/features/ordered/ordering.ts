import { bool } from '../../../engine/message/index.js';
import { DlxConfigurationError, parseDuration, refused, whole } from '../../../platform/options/index.js';
import type { BesideFeature, FeatureDecorator } from '../../core/handler-settings.js';
import { isKey } from '../../decorators/free-options.js';
import type { OrderedOptions } from '../../decorators/ordered.js';
import { readLater } from '../../module/check-options.js';

/** The checked options of `@Ordered`. */
export interface Ordering {
  readonly key: OrderedOptions['key'];
  readonly window: number;
  /** Milliseconds. */
  readonly holdAtMost: number;
}

const mostInHand = whole(1, 65_535);

/** @throws DlxConfigurationError naming the option and the value */
function readOrdering(given: unknown, origin: string): Ordering {
  const { key, window = 1_000, holdAtMost = '5m' } = given as OrderedOptions;
  if (typeof key !== 'function') throw refused(key, `key of ${origin}`, 'is not a function: write (order) => order.id');
  mostInHand.read(window, `window of ${origin}`);
  const longest = parseDuration(holdAtMost, `holdAtMost of ${origin}`);
  if (longest === 0)
    throw refused(holdAtMost, `holdAtMost of ${origin}`, 'is no time at all; leave it out for 5 minutes');
  return { key, window, holdAtMost: longest };
}

/** Refuses settings of the same handler under which there is no order. @throws DlxConfigurationError */
function refuseUnordered({ window }: Ordering, { queue, args, prefetch }: BesideFeature, origin: string): void {
  const refuse = (why: string): never => {
    throw new DlxConfigurationError(`${origin}: ${why}`);
  };
  if (args.has('x-max-priority')) refuse('@MaxPriority is beside it, and priorities change the order; leave one out');
  for (const [option, ends] of [
    ['autoDelete', 'its last consumer'],
    ['exclusive', 'its connection'],
  ] as const) {
    if (queue[option] === true)
      refuse(`its queue is '${option}' and goes with ${ends}, with all messages in hand; leave that out`);
  }
  if (prefetch !== undefined && prefetch > window)
    refuse(`@Prefetch(${prefetch}) is more than its window (${window}); raise window, or lower the prefetch`);
}

export const orderedDecorator: FeatureDecorator<Ordering> = {
  name: 'Ordered',
  options: { key: isKey, window: readLater, holdAtMost: readLater },
  remedy: 'write { key: (order) => order.id }',
  read: readOrdering,
  argumentsFor(ordering, beside, origin) {
    refuseUnordered(ordering, beside, origin);
    return new Map([['x-single-active-consumer', bool(true)]]);
  },
};
