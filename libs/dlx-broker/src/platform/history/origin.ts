import { createHash } from 'node:crypto';
import {
  type Address,
  type FieldTable,
  type Message,
  oldestDeathOf,
  type RecordedOrigin,
  textAt,
} from '../../engine/message/index.js';
import { readHistory } from './error-entries.js';
import { errorHeaders, retryHeaders } from './names.js';

/**
 * Where a message that was republished or dead-lettered was published at first: from the broker's record, or else from its
 * headers, which prove nothing. Undefined when neither has it. Only a recorded origin may be published to.
 */
export function originOf(message: Message): Address | undefined {
  const { origin } = message;
  if (origin === undefined) return claimedOriginOf(message);
  const { exchange, routingKey } = origin;
  return { exchange, routingKey };
}

/** The origin that a publisher wrote into the headers, with the queue in which the message failed. */
export function claimedIn(headers: FieldTable | undefined): RecordedOrigin | undefined {
  const address = claimedAddressIn(headers);
  return address && { ...address, queue: textAt(headers, retryHeaders.queue) };
}

function claimedAddressIn(headers: FieldTable | undefined): Address | undefined {
  const exchange = textAt(headers, retryHeaders.firstExchange);
  const routingKey = textAt(headers, retryHeaders.firstRoutingKey);
  return exchange === undefined || routingKey === undefined ? undefined : { exchange, routingKey };
}

/** The origin of a message in its headers, which its publisher may have written. */
export function claimedOriginOf(message: Message): Address | undefined {
  const claimed = claimedAddressIn(message.own.headers);
  if (claimed !== undefined) return claimed;
  const first = oldestDeathOf(message);
  return first && { exchange: first.exchange, routingKey: first.routingKeys[0] ?? '' };
}

/** The origin of a message, or else its address: to show it, never to publish to it. */
export const addressOf = (message: Message): Address => originOf(message) ?? message;

/** The origin of a message in the broker's record, or else its address. */
export const recordedAddressOf = (message: Message): Address => message.origin ?? message;

/**
 * Where a message in its work queue was published: from the broker's record, unless that is the queue itself, and then from its
 * headers. It decides which handler's pattern matches, and is no address to publish to.
 */
export function publishedTo(message: Message, queue: string): Address {
  const { origin } = message;
  if (origin !== undefined && !isQueueItself(origin, queue)) return origin;
  return claimedOriginOf(message) ?? origin ?? message;
}

/** Whether this is the address of that queue at the default exchange. */
export const isQueueItself = ({ exchange, routingKey }: Address, queue: string): boolean =>
  exchange === '' && routingKey === queue;

/**
 * The queue in which the message failed at first.
 * @param believes whether to believe its headers if nothing was recorded
 */
export function workQueueOf(message: Message, believes = true): string | undefined {
  if (message.origin !== undefined || !believes) return message.origin?.queue;
  return textAt(message.own.headers, retryHeaders.queue) ?? oldestDeathOf(message)?.queue;
}

/** The most characters of an error message that count for its kind, after the varying parts were replaced. */
const longestKind = 200;
/** The most characters of an error message that are read for its kind. */
const longestRead = 1_024;

/** The parts of a message that differ between failures of the same kind: identifiers first, then all other numbers. */
const varying = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0x[0-9a-f]+|\d+/gi;

/** An error without numbers and identifiers, the same for similar failures: `TimeoutError: no answer after # ms`. */
export const errorKind = (name: string, message: string | undefined): string =>
  message ? `${name}: ${message.slice(0, longestRead).replace(varying, '#').slice(0, longestKind)}` : name;

/** The most characters of a fingerprint. */
export const longestFingerprint = 128;

/** True for a string that can be a fingerprint. */
export const isFingerprint = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= longestFingerprint;

/**
 * The fingerprint of a failure: `1:`, the version of the calculation, and 16 hexadecimal digits. It has neither the stack nor numbers,
 * so builds, hosts and identifiers do not change it.
 * @param handler class and method, or the queue if they are unknown
 */
export function fingerprintOf(handler: string, name: string, message: string | undefined): string {
  const parts = JSON.stringify([handler, name, errorKind(name, message)]);
  return `1:${createHash('sha256').update(parts).digest('hex').slice(0, 16)}`;
}

/** The fingerprint of the latest error in the headers; undefined without an error. @param queue in which it failed */
export function fingerprintAmong(headers: FieldTable | undefined, queue: string | undefined): string | undefined {
  const name = textAt(headers, errorHeaders.class);
  const latest = readHistory(headers).errors.find(({ redrive }) => redrive === undefined);
  const failed = name ?? latest?.name;
  if (failed === undefined) return undefined;
  const message = name === undefined ? latest?.message : textAt(headers, errorHeaders.message);
  return fingerprintOf(latest?.handler ?? queue ?? '', failed, message);
}

/** The fingerprint of a message: as it was written when the message was parked or rejected, or else calculated; undefined without an error. */
export function fingerprintIn(message: Message): string | undefined {
  const { headers } = message.own;
  const written = textAt(headers, retryHeaders.fingerprint);
  return isFingerprint(written) ? written : fingerprintAmong(headers, workQueueOf(message));
}
