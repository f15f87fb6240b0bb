import { deathsOf, type Message } from '../message/index.js';
import { failingSince } from './attempts.js';
import { dateAt } from './date-at.js';

/**
 * Since when a message is dead, in milliseconds since 1970: since its latest death was first recorded, or if it was
 * parked, since its first failure. Undefined if it never died.
 */
export function deadSince(message: Message): number | undefined {
  const death = deathsOf(message)[0];
  return dateAt(death !== undefined && death.time > 0 ? death.time : failingSince(message));
}
