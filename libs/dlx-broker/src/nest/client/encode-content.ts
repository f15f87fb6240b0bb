import { shown } from '../../platform/options/index.js';
import { asError } from '../core/failure.js';
import { InvalidMessageException, type OutgoingPacket } from '../core/nest-versions.js';
import { encodePacket } from '../features/envelope/packet.js';
import { type EncodedPayload, encodePayload } from '../core/payload.js';

/**
 * The body of an event or a request.
 * @param isPacket whether the body is a packet of Nest's own transport
 * @param correlationId of a request; undefined for an event
 * @throws TypeError naming the pattern, when the data cannot be written as JSON
 */
export function encodeContent(
  { pattern, metadata }: OutgoingPacket,
  content: unknown,
  correlationId: string | undefined,
  isPacket: boolean,
): EncodedPayload {
  try {
    return isPacket ? encodePacket(pattern, content, metadata, correlationId) : encodePayload(content);
  } catch (error) {
    const text = `the data of ${shown(pattern)} cannot be written as JSON: ${asError(error).message}`;
    throw new TypeError(text, { cause: error });
  }
}

/** Nest's error for a pattern or data that are undefined or null, with what is missing and what to write. */
export function missingIn(call: 'emit' | 'send', pattern: unknown, data: unknown): Error {
  const message =
    pattern === undefined || pattern === null
      ? `${call}: the pattern is ${pattern}; write the routing key, such as 'order.created'`
      : `${call} of ${shown(pattern)}: the data are ${data}; write {}, or new DlxRecordBuilder(${data}).build() if that is meant`;
  return Object.assign(new InvalidMessageException(), { message });
}
