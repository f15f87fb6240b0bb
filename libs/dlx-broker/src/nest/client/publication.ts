import type { Done, Publication } from '../../backends/index.js';
import type { Properties } from '../../engine/message/index.js';
import { shown } from '../../platform/options/index.js';
import { asError } from '../core/failure.js';
import { withMetadata } from '../core/headers.js';
import { type EncodedPayload, encodePayload } from '../core/payload.js';
import { encodePacket } from '../features/envelope/packet.js';
import { InvalidMessageException, type OutgoingPacket } from '../handlers/nest-versions.js';
import type { PublishSpan } from '../tracing/index.js';
import { DlxRecord, recordProperties } from './record-builder.js';

/** Where a client publishes, and in which form. */
export interface PublishPlace {
  /** Unless the record names one. */
  readonly exchange: string;
  /** The routing key of all messages in place of their patterns. */
  readonly queue: string | undefined;
  readonly mandatory: boolean;
  /** True: bodies are packets of Nest. */
  readonly isPacket: boolean;
  readonly dropped: NonNullable<Publication['dropped']>;
}

/** The ids of a message that the client does not make itself, and where its answer goes. */
export type OwnIds = Pick<Properties, 'messageId' | 'correlationId' | 'replyTo'>;

/** The message id that the data bring. */
export const messageIdOf = ({ data }: OutgoingPacket): string | undefined =>
  data instanceof DlxRecord ? data.properties.messageId : undefined;

/**
 * The message of an event or a request.
 * @param key the pattern as a routing key
 * @throws TypeError naming the pattern, when the data cannot be written as JSON
 */
export function publicationOf(
  packet: OutgoingPacket,
  key: string,
  messageId: string,
  { correlationId, replyTo }: OwnIds,
  { exchange, queue, mandatory, isPacket, dropped }: PublishPlace,
): Publication {
  const data: unknown = packet.data;
  const record = data instanceof DlxRecord ? data : undefined;
  const content = record === undefined ? data : record.data;
  const { contentType, body } = encodeContent(packet, content, correlationId, isPacket);
  let properties: Properties;
  if (record !== undefined) properties = recordProperties(record, contentType, messageId, correlationId);
  else if (replyTo === undefined) properties = { deliveryMode: 2, contentType, messageId, correlationId };
  // A literal: a copy with another property takes V8 longer than the rest of the publish.
  else properties = { deliveryMode: 2, contentType, messageId, correlationId, replyTo };
  return {
    exchange: record?.exchange ?? exchange,
    routingKey: queue === undefined || record?.exchange !== undefined ? key : queue,
    properties: packet.metadata === undefined ? properties : withMetadata(properties, packet.metadata, isPacket),
    body,
    mandatory: record?.mandatory ?? (mandatory || queue !== undefined),
    dropped,
  };
}

/** Ends a span with the outcome of its publish, which is then passed on. */
export const endingBy =
  (span: PublishSpan, done: Done): Done =>
  (failure) => {
    span.end(failure);
    done(failure);
  };

/**
 * The body of an event or a request.
 * @param isPacket whether the body is a packet of Nest's own transport
 * @param correlationId of a request; undefined for an event
 * @throws TypeError naming the pattern, when the data cannot be written as JSON
 */
function encodeContent(
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
export function missingIn(call: 'emit' | 'send', pattern: unknown, data: unknown): Error | undefined {
  const isPattern = pattern !== undefined && pattern !== null;
  if (isPattern && data !== undefined && data !== null) return undefined;
  const message = isPattern
    ? `${call} of ${shown(pattern)}: the data are ${data}; write {}, or new DlxRecordBuilder(${data}).build() if that is meant`
    : `${call}: the pattern is ${pattern}; write the routing key, such as 'order.created'`;
  return Object.assign(new InvalidMessageException(), { message });
}
