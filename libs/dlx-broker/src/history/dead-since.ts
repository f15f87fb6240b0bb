import { deathsOf, type Message } from '../message/index.js';
import { failingSince } from './attempts.js';

/**
 * Since when a message is dead, in milliseconds since 1970: since its latest death was first recorded, or if it was
 * parked, since its first failure. Undefined if it never died.
 */
export function deadSince(message: Message): number | undefined {
  const death = deathsOf(message)[0];
  return dateAt(death !== undefined && death.time > 0 ? death.time : failingSince(message));
}

/** The last millisecond that a date can have. A publisher may write a timestamp in microseconds, or forge a death. */
const lastDate = 8.64e15;

/** A time that a date can have; undefined for others. */
export const dateAt = (time: number | undefined): number | undefined =>
  time !== undefined && Math.abs(time) <= lastDate ? time : undefined;
