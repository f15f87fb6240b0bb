import { deathsOf, type Message } from '../../engine/message/index.js';
import { failingSince } from './attempts.js';
import { dateAt } from './date-at.js';
import { readHistory } from './error-entries.js';

/**
 * Since when a message is dead, in milliseconds since 1970: since its latest death was first recorded, or if it was
 * parked, since its first failure. Undefined if it neither died nor failed.
 */
export function deadSince(message: Message): number | undefined {
  const death = deathsOf(message)[0];
  return dateAt(death !== undefined && death.time > 0 ? death.time : failingSince(message));
}

/**
 * When a message died last, in milliseconds since 1970: the time of its latest death, or if it was parked, of its latest failure. Without a
 * history of its errors only the time of the first failure is known. Undefined if it neither died nor failed.
 */
export function diedAt(message: Message): number | undefined {
  const since = deadSince(message);
  if (since === undefined || deathsOf(message).length > 0) return since;
  const latest = readHistory(message.own.headers).errors.find(({ redrive }) => redrive === undefined);
  return latest?.at.getTime() ?? since;
}
