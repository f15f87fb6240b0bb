import { failingSince, heldUntil, holdsOf, retryHeaders } from '../../../platform/history/index.js';
import { type Field, type FieldTable, int32, int64, type Message } from '../../../engine/message/index.js';
import type { Circuit, Hold } from './circuit.js';

/** What a successor of a message says about outages. */
export interface AfterOutage {
  readonly headers: FieldTable;
  /** When the message failed for the first time, later by the outages since. Undefined if it never failed. */
  readonly failingSince: number | undefined;
}

/**
 * Leaves outages out of the time for which a message fails: its deadline shall not end because a service is away.
 * @param now milliseconds since 1970
 * @param hold undefined if the message is not held, but failed
 */
export function afterOutage(
  message: Message,
  queue: string,
  circuit: Circuit | undefined,
  headers: FieldTable,
  now: number,
  hold?: Hold,
): AfterOutage {
  const first = failingSince(message, queue);
  const counted = Math.max(first ?? now, heldUntil(message) ?? 0);
  const outage = circuit === undefined || first === undefined ? 0 : circuit.outageSince(counted);
  const wait = hold?.wait ?? 0;
  if (outage + wait === 0) return { headers, failingSince: first };
  const all = new Map<string, Field>(headers);
  if (first !== undefined) all.set(retryHeaders.heldUntil, int64(Math.floor(now + wait)));
  if (hold?.isCounted === true) all.set(retryHeaders.holds, int32(holdsOf(message) + 1));
  return { headers: all, failingSince: first === undefined ? undefined : first + outage + wait };
}
