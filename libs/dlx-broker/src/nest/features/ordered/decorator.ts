import { bool } from '../../../engine/message/index.js';
import { DlxConfigurationError, parseDuration, refused, whole } from '../../../platform/options/index.js';
import type { DlxContext } from '../../core/context.js';
import type { BesideFeature, FeatureDecorator } from '../../core/handler-settings.js';
import { contribute } from '../../decorators/contribution.js';
import { readLater } from '../../module/check-options.js';
import { isKey } from '../message-key.js';

/** What is kept in order, and how much may wait in hand. */
export interface OrderedOptions<T = unknown> {
  /**
   * The key of a message: messages with the same key are handled one at a time, in the order of their queue. A number is the same key as
   * its text. `null`: no order for this message. An error, a promise or any other value fails the attempt.
   */
  readonly key: (payload: T, context: DlxContext) => string | number | null;
  /** The most messages in hand, 1 to 65535: those at work, those that wait for another attempt, those behind them. Default 1000. */
  readonly window?: number;
  /** The longest wait before another attempt: milliseconds or a string. Default `'5m'`. */
  readonly holdAtMost?: number | string;
}

/**
 * Handles the messages of a key one at a time and in order, also across retries: a message that fails waits in hand and holds up only
 * its key. After its last attempt it is parked, and the key goes on. One instance of the application works, the others stand by.
 */
export const Ordered = <T = unknown>(options: OrderedOptions<T>): MethodDecorator =>
  contribute('Ordered', {}, { given: options });

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
  names: ['Ordered'],
  options: { key: isKey, window: readLater, holdAtMost: readLater },
  remedy: 'write { key: (order) => order.id }',
  read: readOrdering,
  argumentsFor(ordering, beside, origin) {
    refuseUnordered(ordering, beside, origin);
    return new Map([['x-single-active-consumer', bool(true)]]);
  },
};
