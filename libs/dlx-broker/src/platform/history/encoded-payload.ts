import type { Message } from '../../engine/message/index.js';
import { charsetOf, defaultCharset, formatOf, isIdentity } from './payload.js';

/** A payload that cannot become the body of this message. The text says why, and what to give. */
export class UnencodablePayloadError extends Error {
  override readonly name = 'UnencodablePayloadError';
}

/**
 * Makes a body in the form that a message names: the reverse of {@link decodePayload}. Bytes stay as they are. Any other value becomes JSON,
 * or for `text/...` has to be a text.
 * @throws UnencodablePayloadError for a value that its content type or content encoding does not allow
 */
export function encodePayload({ own: { contentType, contentEncoding } }: Message, payload: unknown): Uint8Array {
  if (payload instanceof Uint8Array) return payload;
  const refuse = (why: string): UnencodablePayloadError =>
    new UnencodablePayloadError(`${why}; give the body as bytes, for example a Buffer`);
  if (!isIdentity(contentEncoding)) throw refuse(`the content encoding of the message is '${contentEncoding}'`);
  const format = formatOf(contentType);
  if (format === 'bytes') throw refuse(`the content type of the message is '${contentType}'`);
  const charset = charsetOf(contentType);
  if (charset !== defaultCharset && charset !== 'utf8') throw refuse(`the message is encoded in ${charset}`);
  if (format === 'text') {
    if (typeof payload === 'string') return Buffer.from(payload);
    throw refuse(`the content type of the message is '${contentType}', and the payload is no text`);
  }
  return Buffer.from(jsonOf(payload));
}

function jsonOf(payload: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(payload);
  } catch (error) {
    throw new UnencodablePayloadError(`the payload cannot be written as JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (json !== undefined) return json;
  throw new UnencodablePayloadError(`a ${typeof payload} cannot be written as JSON`);
}
