import { type Field, int64, Message } from '../../message/index.js';
import type { Entry } from '../queue/entry.js';

/**
 * A quorum queue's message as it is handed out (rules D3, D4): with the number of its returns in `x-delivery-count`,
 * which consumers see from the second delivery on and `basic.get` always. The queue's own copy does not carry it.
 */
export function withDeliveryCount(entry: Entry, always: boolean): Message {
  const { message } = entry;
  if (entry.returns === 0 && !always) return message;
  const { properties } = message;
  const headers = new Map<string, Field>(properties.headers).set('x-delivery-count', int64(entry.returns));
  return new Message(message.exchange, message.routingKey, { ...properties, headers }, message.body);
}
