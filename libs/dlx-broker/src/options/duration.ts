import ms from 'ms';
import { refused } from './refused.js';

/** The longest time AMQP knows for a TTL: ten years of 365 days, in milliseconds (rule B1). */
export const longestDuration = 315_360_000_000;

/**
 * Reads a duration as users write it: a number of milliseconds, or a text with a unit such as `'200ms'`, `'30s'`, `'1h'`.
 * @param value what the user wrote
 * @param origin where it is written, for the error: `retry.backoff.delay of OrdersController.created`
 * @returns whole milliseconds, 0 up to ten years (rule B1)
 * @throws DlxConfigurationError naming origin and value
 */
export function parseDuration(value: string | number, origin: string): number {
  if (typeof value === 'string' && bareNumber.test(value)) {
    const number = value.trim();
    throw refused(value, origin, `has no unit; write ${number} for milliseconds, or a text such as '${number}s'`);
  }
  const milliseconds = typeof value === 'number' ? value : read(value);
  if (milliseconds === undefined || !Number.isFinite(milliseconds)) {
    throw refused(
      value,
      origin,
      "is not a duration; write milliseconds or a text such as '200ms', '30s', '5m' or '1h'",
    );
  }
  if (milliseconds < 0) throw refused(value, origin, 'is negative; a duration is 0 or more');
  if (!Number.isInteger(milliseconds)) throw refused(value, origin, 'is not a whole number of milliseconds');
  if (milliseconds > longestDuration) throw refused(value, origin, 'is longer than ten years (of 365 days)');
  return milliseconds;
}

const bareNumber = /^\s*-?\d*\.?\d+\s*$/;

/** `ms` throws for an empty or very long text, and returns undefined for a text that is no duration. Here both are undefined. */
function read(text: string): number | undefined {
  try {
    return ms(text as ms.StringValue);
  } catch {
    return undefined;
  }
}
