import type { Message, Properties } from '../message/index.js';

/** The body is no JSON although the message says so, or says nothing. */
export class UndecodablePayloadError extends Error {
  override readonly name = 'UndecodablePayloadError';
}

/** A body and the content type that tells how to read it. */
export interface EncodedPayload {
  readonly contentType: string | undefined;
  readonly body: Uint8Array;
}

export const jsonType = 'application/json';
export const bytesType = 'application/octet-stream';
const nothing: EncodedPayload = { contentType: undefined, body: new Uint8Array(0) };

/** Bytes travel as they are, anything else as JSON; `undefined` is an empty body. The data only: there is no envelope. */
export function encodePayload(data: unknown): EncodedPayload {
  if (data === undefined) return nothing;
  if (data instanceof Uint8Array) return { contentType: bytesType, body: data };
  const text = JSON.stringify(data) as string | undefined;
  return text === undefined ? nothing : { contentType: jsonType, body: Buffer.from(text) };
}

/**
 * Reads a body by its content type: JSON, a text for `text/...`, a Buffer for any other. Without a content type it has
 * to be JSON; compressed or otherwise encoded bodies are handed over as bytes.
 * @throws UndecodablePayloadError when it is no JSON
 */
export function decodePayload({ own: properties, body }: Message): unknown {
  if (body.length === 0 && properties.contentType !== bytesType) return undefined;
  const buffer = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  switch (formatOf(properties)) {
    case 'json':
      return parse(buffer.toString('utf8'), properties.contentType);
    case 'text':
      return buffer.toString('utf8');
    case 'bytes':
      return buffer;
  }
}

function formatOf({ contentType, contentEncoding }: Properties): 'json' | 'text' | 'bytes' {
  if (contentEncoding !== undefined && !/^(utf-?8|identity)?$/i.test(contentEncoding)) return 'bytes';
  if (contentType === undefined || contentType === '' || contentType === jsonType) return 'json';
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  if (type === jsonType || type.endsWith('+json')) return 'json';
  return type.startsWith('text/') ? 'text' : 'bytes';
}

function parse(text: string, contentType: string | undefined): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const claim = contentType === undefined ? 'no content type' : `content type '${contentType}'`;
    throw new UndecodablePayloadError(`a payload with ${claim} is no JSON: ${(error as Error).message}`);
  }
}
