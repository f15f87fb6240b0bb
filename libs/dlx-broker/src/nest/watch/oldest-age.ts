import type { OldestLetter } from '../../backend/index.js';
import type { Measured } from './alarm.js';

/**
 * The age of the oldest dead letter of a queue, in milliseconds.
 * @param ready messages that wait in the queue
 * @param unacknowledged messages that consumers have. They cannot be seen.
 * @returns 0 if none of the messages is dead; undefined if consumers have all messages
 */
export function oldestAge(
  { time, isPart }: OldestLetter,
  ready: number,
  unacknowledged: number,
  now: number,
): Measured | undefined {
  if (ready === 0 && unacknowledged > 0) return undefined;
  return { value: Math.max(0, now - (time ?? now)), isPart: isPart || unacknowledged > 0 };
}
