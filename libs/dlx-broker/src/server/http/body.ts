import { maxNesting } from '../../engine/message/index.js';
import { badRequest } from './reply.js';

/** A JSON object of a request. It has no prototype, so a missing key is undefined. */
export type JsonObject = { readonly [key: string]: unknown };

/** The refusal of releases of RabbitMQ that have this limit. */
const tooLong = () => badRequest('Exceeded HTTP request body size limit');

/**
 * Reads the body of a request.
 * @param keep called with each piece before it is kept; it may throw
 * @throws Problem 400 for a body above the limit
 */
export async function readBody(request: Request, limit: number, keep: (bytes: number) => void): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLong();
  if (request.body === null) return new Uint8Array();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > limit) throw tooLong();
    keep(piece.length);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, size);
}

/**
 * The JSON value of a body; an empty body is an empty object.
 * @throws Problem 400
 */
export function valueIn(text: string): unknown {
  if (text.trim() === '' || text === 'undefined') return {};
  checkNesting(text);
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('not_json');
  }
}

/**
 * The object of a body, see {@link ApiRequest.body}.
 * @param value the result of {@link valueIn}
 */
export function jsonObject(value: unknown, required: readonly string[]): JsonObject {
  if (typeof value === 'string') {
    const doubly = 'the request body JSON-decoded to a string. Is the input doubly-JSON-encoded?';
    throw badRequest(`invalid payload: ${doubly}`);
  }
  // Some clients send null for an empty body, and older tools of RabbitMQ send `undefined`.
  if (value === null || typeof value === 'boolean') return jsonObject({}, required);
  if (typeof value !== 'object' || Array.isArray(value)) throw badRequest('not_json');
  const object = Object.setPrototypeOf(value, null) as JsonObject;
  const missing = required.filter((key) => object[key] === undefined);
  if (missing.length > 0) throw badRequest(erlangList(missing.map((key) => `{key_missing,${key}}`)));
  return object;
}

/**
 * Refuses deeply nested JSON, which could be read and not written again.
 * @throws Problem 400
 */
export function checkNesting(json: string): void {
  const limit = 2 * maxNesting;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const char = json[at];
    if (char === '"') at = endOfText(json, at);
    else if ((char === '[' || char === '{') && ++depth > limit)
      throw badRequest(`nested more than ${limit} levels deep`);
    else if (char === ']' || char === '}') depth--;
  }
}

/** The position of the closing quote of a string, or the end of the input. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

/** A list as Erlang prints it: over several lines if it is long. */
function erlangList(parts: readonly string[]): string {
  const line = `[${parts.join(',')}]`;
  return line.length < 79 ? line : `[${parts.join(',\n ')}]`;
}

/**
 * A boolean, or its text, which rabbitmqadmin sends.
 * @throws Problem 400
 */
export function booleanIn(object: JsonObject, key: string, otherwise = false): boolean {
  const value = object[key];
  if (value === undefined || value === null) return otherwise;
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw badRequest(['not_boolean', value]);
}

/**
 * An integer, or its digits as text, which rabbitmqadmin sends; undefined if the key is missing.
 * @throws Problem 400
 */
export function integerIn(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'string' && /^[+-]?\d+$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(Math.trunc(number))) return Math.trunc(number);
  throw badRequest(['not_integer', value]);
}

/**
 * A string; undefined if the key is missing.
 * @throws Problem 400 for another type
 */
export function textIn(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  if (value === undefined || typeof value === 'string') return value;
  throw badRequest(`${key} should be a string`);
}

/**
 * A string.
 * @throws Problem 400 if it is missing or of another type
 */
export function requiredText(object: JsonObject, key: string): string {
  const value = textIn(object, key);
  if (value !== undefined) return value;
  throw badRequest(`[{key_missing,${key}}]`);
}

/** The bytes of base64; undefined if the text is none. Line ends and spaces of ASCII are ignored. */
export function bytesOfBase64(text: string): Uint8Array | undefined {
  const plain = /\s/.test(text) ? withoutSpace(text) : text;
  if (plain === undefined || plain.length % 4 !== 0) return undefined;
  // A pattern of the whole text would go back over all of it when the end does not match.
  const end = plain.search(/[^A-Za-z0-9+/]/);
  const isBase64 = end < 0 || ['=', '=='].includes(plain.slice(end));
  return isBase64 ? Buffer.from(plain, 'base64') : undefined;
}

/**
 * A string without spaces. Some ten megabytes of single spaces take as long as other text: a replacement would make a part
 * for each.
 * @returns undefined for other characters than those of ASCII
 */
function withoutSpace(text: string): string | undefined {
  const bytes = Buffer.from(text);
  if (bytes.length !== text.length) return undefined;
  let length = 0;
  for (const byte of bytes) if (!isSpace(byte)) bytes[length++] = byte;
  return bytes.toString('latin1', 0, length);
}

const isSpace = (byte: number): boolean => byte === 32 || (byte >= 9 && byte <= 13);
