import type { BackendDelivery } from '../../backends/index.js';
import { keptText, type Message, textAt } from '../../engine/message/index.js';
import {
  decodePayload as decode,
  historyOf,
  jsonType,
  retryHeaders,
  UndecodablePayloadError,
} from '../../platform/history/index.js';

/** A body, and the content type by which it is decoded. */
export interface EncodedPayload {
  readonly contentType: string | undefined;
  readonly body: Uint8Array;
}

const bytesType = 'application/octet-stream';
const nothing: EncodedPayload = { contentType: undefined, body: new Uint8Array(0) };

/** Bytes travel as they are, anything else as JSON; `undefined` is an empty body. The body is the data, without an envelope. */
export function encodePayload(data: unknown): EncodedPayload {
  if (data === undefined) return nothing;
  if (data instanceof Uint8Array) return { contentType: bytesType, body: data };
  const text = JSON.stringify(data) as string | undefined;
  return text === undefined ? nothing : { contentType: jsonType, body: keptText(text) };
}

/**
 * The payload for a handler or a client. A compressed body stays bytes: the handler may uncompress it.
 * @throws UndecodablePayloadError when the body is not what its content type says
 */
export function decodePayload(message: Message): unknown {
  const payload = decode(message);
  if (!(payload instanceof UndecodablePayloadError)) return payload;
  if (payload.isEncoded) return payload.body;
  throw payload;
}

/**
 * The payload for a handler. A message that failed in another queue may be undecodable: a handler of dead letters or parked messages gets
 * its bytes, because a reject would lose the message.
 */
export function payloadOf(delivery: BackendDelivery): unknown {
  try {
    return decodePayload(delivery.message);
  } catch (error) {
    if (failedElsewhere(delivery)) return Buffer.from(delivery.message.body);
    throw error;
  }
}

/** An expired message may come from a queue that only delays it, and the own queue may have retried this one. */
function failedElsewhere({ message, queue }: BackendDelivery): boolean {
  const { headers } = message.own;
  if (headers?.get(retryHeaders.parked)?.value === true) return textAt(headers, retryHeaders.queue) !== queue;
  return historyOf(message).some((death) => death.reason !== 'expired' && death.queue !== queue);
}
