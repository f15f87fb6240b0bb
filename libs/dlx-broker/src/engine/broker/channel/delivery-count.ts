import { type Field, int64, type Message, messageOf, notesOf, withHeaders } from '../../message/index.js';
import { CountedEntry, type Entry } from '../queue/entry.js';

/**
 * A quorum queue's message as a client gets it (rules D3, D4): the header `x-delivery-count` has the number of its returns. Consumers
 * see it from the second delivery on, `basic.get` always. Since RabbitMQ 4 (rule W6) `x-acquired-count` has the returns and
 * `x-delivery-count` the failures, each only above 0. The queue's own message has neither header.
 * @param always true for `basic.get`
 */
export function withDeliveryCount(entry: Entry, always: boolean): Message {
  const { message } = entry;
  const counted = entry instanceof CountedEntry;
  if (entry.returns === 0 && (counted || !always)) return message;
  const { properties } = message;
  const headers = new Map<string, Field>(properties.headers);
  if (counted) headers.set('x-acquired-count', int64(entry.returns));
  if (!counted || entry.failures > 0) headers.set('x-delivery-count', int64(entry.failures));
  const { exchange, routingKey, origin, body } = message;
  // The copy has the body itself, because the queue's own message may be gone before the copy is sent.
  return messageOf(
    exchange,
    routingKey,
    withHeaders(properties, headers, properties.expiration),
    body,
    notesOf(undefined, origin),
  );
}
