import { keptText, type Message, type Properties } from '../../engine/message/index.js';

/** A body that is not what its content type says, for example no JSON. In a stream the error is the payload of the letter. */
export class UndecodablePayloadError extends Error {
  override readonly name = 'UndecodablePayloadError';

  constructor(
    { contentType }: Properties,
    reason: string,
    /** The body as it came. */
    readonly body: Buffer,
    /** True when the message has a content encoding, such as gzip, which the decoder does not undo. */
    readonly isEncoded = false,
  ) {
    const claim = contentType === undefined ? 'no content type' : `content type '${contentType}'`;
    super(`a payload with ${claim} cannot be decoded: ${reason}`);
  }
}

export const jsonType = 'application/json';

/** The character set of a text whose content type names none. */
const defaultCharset = 'utf-8';

/**
 * Reads a body by its content type: JSON becomes a value, `text/...` a string, any other type stays bytes. Without a
 * content type the body has to be JSON. Empty JSON is undefined.
 * @returns the payload, or an {@link UndecodablePayloadError}
 * @throws Unreadable when the body is on disk, and cannot be read
 */
export function decodePayload({ body, own: properties }: Message): unknown {
  const buffer = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const { contentType } = properties;
  if (contentType === jsonType && properties.contentEncoding === undefined) return decodeJson(properties, buffer);
  const format = formatOf(contentType);
  if (format === 'bytes') return buffer;
  if (buffer.length === 0) return format === 'text' ? '' : undefined;
  const { contentEncoding } = properties;
  if (!isIdentity(contentEncoding)) {
    return new UndecodablePayloadError(properties, `its content encoding is '${contentEncoding}'`, buffer, true);
  }
  const charset = charsetOf(contentType);
  let text: string;
  try {
    text = charset === defaultCharset ? utf8(buffer) : new TextDecoder(charset, { fatal: true }).decode(buffer);
  } catch (error) {
    return new UndecodablePayloadError(properties, reasonOf(error, charset), buffer);
  }
  return format === 'text' ? text : parseJson(properties, text, buffer);
}

/** Reads a body as nearly all messages have it, so nothing is looked for in the content type. */
function decodeJson(properties: Properties, buffer: Buffer): unknown {
  if (buffer.length === 0) return undefined;
  let text: string;
  try {
    text = utf8(buffer);
  } catch (error) {
    return new UndecodablePayloadError(properties, reasonOf(error, defaultCharset), buffer);
  }
  return parseJson(properties, text, buffer);
}

function parseJson(properties: Properties, text: string, buffer: Buffer): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    return new UndecodablePayloadError(properties, `it is no JSON${whereIn((error as Error).message)}`, buffer);
  }
}

/** What the parser says, unless it shows a part of the payload: errors go into logs. */
const whereIn = (reason: string): string =>
  /["'`]/.test(reason.replace("'}'", '').replace("']'", '')) ? '' : `: ${reason}`;

const reasonOf = (error: unknown, charset: string): string =>
  error instanceof RangeError ? error.message : `it is not encoded in ${charset}`;

function formatOf(contentType: string | undefined): 'json' | 'text' | 'bytes' {
  if (contentType === undefined || contentType === jsonType) return 'json';
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  if (type === '' || type === jsonType || type.endsWith('+json')) return 'json';
  return type.startsWith('text/') ? 'text' : 'bytes';
}

/** Many clients write the character set into the content encoding: such a body is not encoded. */
const isIdentity = (encoding: string | undefined): boolean =>
  encoding === undefined || /^(utf-?8|identity)?$/i.test(encoding);

const charsetOf = (contentType = ''): string =>
  /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1]?.toLowerCase() ?? defaultCharset;

const replacement = '\ufffd';
const byteOrderMark = 0xfeff;

/** For short texts faster than a `TextDecoder`, which only reads bytes that may be no UTF-8. @throws TypeError for those */
function utf8(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (text.includes(replacement)) return new TextDecoder(defaultCharset, { fatal: true }).decode(bytes);
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text;
}

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
    if (typeof payload === 'string') return keptText(payload);
    throw refuse(`the content type of the message is '${contentType}', and the payload is no text`);
  }
  return keptText(jsonOf(payload));
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
