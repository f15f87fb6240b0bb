import { parseDuration } from './duration.js';
import { refused } from './refused.js';

/**
 * Reads a time limit as users write it: a duration, or false for no limit.
 * @param least the shortest one, in milliseconds
 * @returns milliseconds; Infinity for no limit
 * @throws DlxConfigurationError naming origin and value
 */
export function parseTimeLimit(value: unknown, origin: string, least: number): number {
  if (value === false) return Infinity;
  if (typeof value !== 'number' && typeof value !== 'string') {
    throw refused(value, origin, "is no duration; write milliseconds, a string such as '30m', or false for no limit");
  }
  const milliseconds = parseDuration(value, origin);
  if (milliseconds >= least) return milliseconds;
  throw refused(value, origin, `is less than ${least} ms; write false for no limit`);
}
