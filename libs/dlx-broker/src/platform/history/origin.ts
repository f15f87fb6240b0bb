import {
  type Address,
  type FieldTable,
  type Message,
  oldestDeathOf,
  type RecordedOrigin,
  textAt,
} from '../../engine/message/index.js';
import { retryHeaders } from './names.js';

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
