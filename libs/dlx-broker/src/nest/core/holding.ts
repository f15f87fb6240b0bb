import { type Field, type FieldTable, int32, int64 } from '../../engine/message/index.js';
import { failingSince, heldUntil, holdsOf, retryHeaders } from '../../platform/history/index.js';
import type { Failure } from '../retry/index.js';
import type { Failed, Hold } from './handler.js';
import { Unavailable } from './outcomes.js';

/** The wait of a message whose queue has no gate, and whose handler names no wait, in milliseconds. */
const waitWithoutGate = 30_000;

/** The hold of a message whose handler says that something is not there; undefined for another error. */
export const unavailable = (error: unknown): Hold | undefined =>
  error instanceof Unavailable ? { wait: error.wait ?? waitWithoutGate, isCounted: true } : undefined;

/** Whether a message is held: it comes again later, as the same attempt. The gate of its queue decides. @returns undefined if not */
export const holdOf = (failed: Failed): Hold | undefined => {
  const { gate } = failed.planned;
  return gate === undefined ? unavailable(failed.error) : gate.failed(failed);
};

/**
 * Leaves outages out of the time for which a message fails: its deadline shall not end because a service is away.
 * @param headers of its error
 * @param now milliseconds since 1970
 * @param hold undefined if the message is not held, but failed
 * @returns what its successor says about that. It has no time of a first failure if the message never failed
 */
export function afterOutage(
  { delivery: { message, queue }, planned }: Failed,
  headers: FieldTable,
  now: number,
  hold?: Hold,
): Pick<Failure, 'headers' | 'failingSince'> {
  const first = failingSince(message, queue);
  const counted = Math.max(first ?? now, heldUntil(message) ?? 0);
  const outage = first === undefined ? 0 : (planned.gate?.closedSince(counted) ?? 0);
  const wait = hold?.wait ?? 0;
  if (outage + wait === 0) return { headers, failingSince: first };
  const all = new Map<string, Field>(headers);
  if (first !== undefined) all.set(retryHeaders.heldUntil, int64(Math.floor(now + wait)));
  if (hold?.isCounted === true) all.set(retryHeaders.holds, int32(holdsOf(message) + 1));
  return { headers: all, failingSince: first === undefined ? undefined : first + outage + wait };
}
