import type { DeathEntry } from './death.js';
import { deathsOf, firstDeathOf, stripDeaths } from './death-history.js';
import { bool, type Field, type FieldTable, int32, int64, longstr, textAt } from './field-table.js';
import type { Message } from './message.js';
import type { Address } from './origin.js';

/** The headers a republished message carries, for the broker's own do not survive republishing (rule W3). */
export const retryHeaders = {
  /** The attempt this is; on a parked message the last one made. */
  attempt: 'dlx-attempt',
  /** The work queue these attempts belong to. */
  queue: 'dlx-queue',
  /** Where the message was published at first: the exchange and the routing key. */
  firstExchange: 'dlx-first-exchange',
  firstRoutingKey: 'dlx-first-routing-key',
  /** When it failed for the first time: milliseconds since 1970. */
  since: 'dlx-failing-since',
  /** True on a parked message. */
  parked: 'dlx-parked',
  /** How often it was redriven to its origin. */
  redrives: 'dlx-redrives',
} as const;

/** What a handler failed with: the class of the error, its message, its stack. */
export const errorHeaders = {
  class: 'dlx-error-class',
  message: 'dlx-error-message',
  stack: 'dlx-error-stack',
  /** What a function of the retry policy failed with, beside the error of the attempt. */
  policy: 'dlx-error-policy',
} as const;

/** An error as it was written on a message. */
export interface NotedError {
  /** Its class. */
  readonly name: string;
  readonly message: string;
}

/** What describes an error begins with this; a redriven message loses it. */
const errorPrefix = 'dlx-error-';

/**
 * Which attempt it is when this message comes from that queue: 1 for the first. Counted in a header of ours, plus the
 * rejections since (rule E1), for a queue may also retry by dead-lettering into a wait queue.
 */
export function attemptOf(message: Message, queue: string): number {
  const rejected = deathsOf(message).find((death) => death.queue === queue && death.reason === 'rejected');
  return Math.min(largest, counted(message, queue) + (rejected === undefined ? 0 : timesOf(rejected)));
}

/**
 * The attempt that was granted when the message was sent to that queue, as its header counts: 1 for a first publish. A stream
 * may grant more attempts than the policy of the handler does; rejections since are not part of it.
 */
export const grantedAttempt = (message: Message, queue: string): number => counted(message, queue);

/**
 * How often this message failed in that queue, as seen from another one: the attempts counted, and every death there
 * since, for whatever reason. So a message that no handler accepts does not go round for ever either.
 */
export function failuresOf(message: Message, queue: string): number {
  let failures = counted(message, queue) - 1;
  for (const death of deathsOf(message)) if (death.queue === queue) failures += timesOf(death);
  return Math.min(largest, failures);
}

/** A broker never counts below 1. A lower count is a client's, and believing it would retry the message for ever. */
const timesOf = ({ count }: DeathEntry): number => (count < 0 ? largest : count);

function counted({ own: { headers } }: Message, queue: string): number {
  if (textAt(headers, retryHeaders.queue) !== queue) return 1;
  const attempt = natural(headers, retryHeaders.attempt);
  return headers?.get(retryHeaders.parked)?.value === true ? (attempt ?? 0) + 1 : Math.max(1, attempt ?? 1);
}

/**
 * Where a message that was republished or dead-lettered was published at first: as the broker recorded it, or else as its
 * headers tell, which proves nothing. Undefined when neither tells. Nothing may be published there unless it was recorded.
 */
export function originOf(message: Message): Address | undefined {
  const { origin } = message;
  if (origin === undefined) return claimedOriginOf(message);
  const { exchange, routingKey } = origin;
  return { exchange, routingKey };
}

/** What the headers tell of a message's origin. Its publisher may have written them. */
export function claimedOriginOf(message: Message): Address | undefined {
  const { headers } = message.own;
  const exchange = textAt(headers, retryHeaders.firstExchange);
  const routingKey = textAt(headers, retryHeaders.firstRoutingKey);
  if (exchange !== undefined && routingKey !== undefined) return { exchange, routingKey };
  const first = oldestDeath(message);
  return first && { exchange: first.exchange, routingKey: first.routingKeys[0] ?? '' };
}

/** Where a message was published at first, as far as anything tells; to show it, never to publish to it. */
export const addressOf = (message: Message): Address => originOf(message) ?? message;

/** Where a message was published at first, as the broker itself knows it. */
export const recordedAddressOf = (message: Message): Address => message.origin ?? message;

/**
 * Where a message was published that lies in its work queue: by its record, unless that names the queue itself, which tells
 * nothing; then by its headers. It says which pattern a message fits, and is no address to publish to.
 */
export function publishedTo(message: Message, queue: string): Address {
  const { origin } = message;
  if (origin !== undefined && !isQueueItself(origin, queue)) return origin;
  return claimedOriginOf(message) ?? origin ?? message;
}

/** Whether this is how the default exchange brings a message to that queue. */
export const isQueueItself = ({ exchange, routingKey }: Address, queue: string): boolean =>
  exchange === '' && routingKey === queue;

/**
 * The queue in which the message failed at first, whichever queues it went through since.
 * @param believes whether to go by its headers where nothing was recorded
 */
export function workQueueOf(message: Message, believes = true): string | undefined {
  if (message.origin !== undefined || !believes) return message.origin?.queue;
  return textAt(message.own.headers, retryHeaders.queue) ?? oldestDeath(message)?.queue;
}

/** What its handler failed with, as it was written on the message. */
export function notedErrorOf({ own: { headers } }: Message): NotedError | undefined {
  const name = textAt(headers, errorHeaders.class);
  return name === undefined ? undefined : { name, message: textAt(headers, errorHeaders.message) ?? '' };
}

/** When it failed for the first time since it was published or redriven, in milliseconds since 1970. */
export function failingSince(message: Message): number | undefined {
  const value = message.own.headers?.get(retryHeaders.since)?.value;
  const time = typeof value === 'bigint' ? Number(value) : value;
  return typeof time === 'number' && Number.isSafeInteger(time) && time >= 0 ? time : undefined;
}

/** How often the message was sent back to its origin: a high number is a message that will never succeed. */
export const redrivesOf = (message: Message): number => natural(message.own.headers, retryHeaders.redrives) ?? 0;

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

/** The first death is named by headers of its own (rule H8); the order of the entries shows only the latest deaths. */
function oldestDeath(message: Message): DeathEntry | undefined {
  const deaths = deathsOf(message);
  const first = firstDeathOf(message);
  return deaths.find(({ queue, reason }) => queue === first?.queue && reason === first.reason) ?? deaths.at(-1);
}

/** The largest number an int32 header can carry, with room to add one. */
const largest = 2_147_483_646;

function natural(headers: FieldTable | undefined, name: string): number | undefined {
  const value = headers?.get(name)?.value;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? Math.min(value, largest) : undefined;
}
