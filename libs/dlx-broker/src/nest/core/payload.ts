import { decodePayload as decode, jsonType, UndecodablePayloadError } from '../../platform/history/index.js';
import type { Message } from '../../engine/message/index.js';

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
  return text === undefined ? nothing : { contentType: jsonType, body: Buffer.from(text) };
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
