import { type Address, bool, type Field, type FieldTable, int32, int64, longstr } from '../message/index.js';
import { type Message, stripDeaths } from '../message/index.js';
import { failingSince, redrivesOf } from './attempts.js';
import { errorHeaders, retryHeaders } from './names.js';
import { addressOf } from './origin.js';

/** What describes an error begins with this; a redriven message loses it. */
const errorPrefix = 'dlx-error-';

/** How far a message has come that failed. */
export interface RetryProgress {
  /** The work queue it belongs to. */
  readonly queue: string;
  /** The attempt it will be; when parked, the last one made. */
  readonly attempt: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly isParked: boolean;
  /** Where it was published at first. Default: as far as anything tells. */
  readonly from?: Address;
}

/**
 * The headers of a message that will be tried again or is parked. Gone are the deaths, with which the message could be
 * dropped as a cycle (rules H9, I6), and CC, which would be further queues to return to (rule G2).
 * @param added what describes the failure
 */
export function headersForRetry(
  message: Message,
  { queue, attempt, now, isParked, from = addressOf(message) }: RetryProgress,
  added: FieldTable | undefined,
): FieldTable {
  const { exchange, routingKey } = from;
  const headers = withoutTraces(message);
  headers.delete(errorHeaders.policy);
  for (const [name, field] of added ?? []) headers.set(name, field);
  headers.set(retryHeaders.attempt, int32(attempt));
  headers.set(retryHeaders.queue, longstr(queue));
  headers.set(retryHeaders.firstExchange, longstr(exchange));
  headers.set(retryHeaders.firstRoutingKey, longstr(routingKey));
  headers.set(retryHeaders.since, int64(Math.min(failingSince(message) ?? now, now)));
  if (isParked) headers.set(retryHeaders.parked, bool(true));
  else headers.delete(retryHeaders.parked);
  return headers;
}

/** The headers of a message that starts anew: nothing of its failures is left but the number of redrives. */
export function headersForRedrive(message: Message): FieldTable {
  const headers = withoutTraces(message);
  for (const name of Object.values(retryHeaders)) headers.delete(name);
  for (const name of headers.keys()) if (name.startsWith(errorPrefix)) headers.delete(name);
  return headers.set(retryHeaders.redrives, int32(redrivesOf(message) + 1));
}

function withoutTraces(message: Message): Map<string, Field> {
  const { own, notes } = message;
  const headers = new Map<string, Field>(stripDeaths(notes === undefined ? own.headers : notes.withDelay(own.headers)));
  for (const name of ['CC', 'BCC', 'x-delivery-count', 'x-acquired-count']) headers.delete(name);
  return headers;
}
