import { optionsOf, parseDuration, refused, whole } from '../../../platform/options/index.js';
import type { FeatureDecorator } from '../../core/handler-settings.js';
import { contribute } from '../../decorators/contribution.js';
import { readLater } from '../../module/check-options.js';

/** How many messages the handlers of a queue begin in this process. */
export interface RateLimitOptions {
  /** The most messages in any time of the length `per`, 1 to 1000000. They may begin all at once. */
  readonly limit: number;
  /** Milliseconds or `'1s'`, up to a day. */
  readonly per: number | string;
}

/** {@link RateLimitOptions}, checked. */
export interface Rate {
  readonly limit: number;
  /** Milliseconds. */
  readonly per: number;
}

/**
 * Limits how many messages the handler begins in this process: at most `limit` in any time of the length `per`. The others wait in
 * their queue, and use no attempt. {@link DlxHandler.setRateLimit} changes it.
 */
export const RateLimit = (options: RateLimitOptions): MethodDecorator =>
  contribute('RateLimit', {}, { given: options });

const remedy = "write { limit: 100, per: '1s' }";
const longest = 86_400_000;
const limits = whole(1, 1_000_000);

/** @throws DlxConfigurationError naming the option and the value */
export function readRate(given: unknown, origin: string): Rate {
  const { limit, per } = optionsOf<RateLimitOptions>(given, origin, remedy, ['limit', 'per']);
  limits.read(limit, `limit of ${origin}`);
  const milliseconds = parseDuration(per, `per of ${origin}`);
  if (milliseconds >= 1 && milliseconds <= longest) return { limit, per: milliseconds };
  throw refused(per, `per of ${origin}`, "is not between 1 ms and a day; write '1s'");
}

export const rateDecorator: FeatureDecorator<Rate> = {
  names: ['RateLimit'],
  options: { limit: readLater, per: readLater },
  remedy,
  read: readRate,
};
