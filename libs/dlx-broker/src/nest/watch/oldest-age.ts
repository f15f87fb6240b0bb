import type { BrowsePage } from '../../backend/index.js';
import { deadSince } from '../../history/index.js';
import type { Measured } from './alarm.js';

/**
 * The age of the oldest dead letter among the first messages of a queue, in milliseconds.
 * @param unacknowledged messages that consumers have. They cannot be seen.
 * @returns 0 if none of the messages is dead; undefined if consumers have all messages
 */
export function oldestAge({ messages, next }: BrowsePage, unacknowledged: number, now: number): Measured | undefined {
  if (messages.length === 0 && unacknowledged > 0) return undefined;
  let oldest = now;
  for (const message of messages) oldest = Math.min(oldest, deadSince(message) ?? now);
  return { value: now - oldest, isPart: next !== undefined || unacknowledged > 0 };
}
