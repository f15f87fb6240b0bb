import { type Field, int64, type Message, messageOf, notesOf, withHeaders } from '../../message/index.js';
import { CountedEntry, type Entry } from '../queue/entry.js';

/**
 * A quorum queue's message as it is handed out (rules D3, D4): with the number of its returns in `x-delivery-count`,
 * which consumers see from the second delivery on and `basic.get` always. Since 4 (rule W6) `x-acquired-count` is that
 * number, `x-delivery-count` the failures among them, and neither is shown before it is 1. The queue's own copy has neither.
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
  // With the body itself: the queue's own copy may go before this one leaves.
  return messageOf(
    exchange,
    routingKey,
    withHeaders(properties, headers, properties.expiration),
    body,
    notesOf(undefined, origin),
  );
}
