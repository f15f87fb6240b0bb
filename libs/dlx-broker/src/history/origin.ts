import { type Address, type DeathEntry, deathsOf, firstDeathOf, type Message, textAt } from '../message/index.js';
import { retryHeaders } from './names.js';

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

/** The first death is named by headers of its own (rule H8); the order of the entries shows only the latest deaths. */
function oldestDeath(message: Message): DeathEntry | undefined {
  const deaths = deathsOf(message);
  const first = firstDeathOf(message);
  return deaths.find(({ queue, reason }) => queue === first?.queue && reason === first.reason) ?? deaths.at(-1);
}
