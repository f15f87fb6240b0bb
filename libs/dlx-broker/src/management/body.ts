import type { JsonObject } from './resource.js';
import { badRequest } from './reply.js';

/** The words of the releases of RabbitMQ that have such a limit. */
const tooLong = () => badRequest('Exceeded HTTP request body size limit');

/** Reads a body as long as it is short enough. @throws Problem 400 */
export async function readBody(request: Request, limit: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLong();
  if (request.body === null) return new Uint8Array();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > limit) throw tooLong();
    pieces.push(piece);
  }
  return Buffer.concat(pieces, size);
}

/** See {@link ApiRequest.body}. */
export function jsonObject(text: string, required: readonly string[]): JsonObject {
  const value = text.trim() === '' ? {} : parse(text);
  if (typeof value === 'string') {
    const doubly = 'the request body JSON-decoded to a string. Is the input doubly-JSON-encoded?';
    throw badRequest(`invalid payload: ${doubly}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest('not_json');
  const object = Object.setPrototypeOf(value, null) as JsonObject;
  const missing = required.filter((key) => object[key] === undefined || object[key] === null);
  if (missing.length > 0) throw badRequest(`[${missing.map((key) => `{key_missing,${key}}`).join(',')}]`);
  return object;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('not_json');
  }
}

/** A boolean as rabbitmqadmin may send it. @throws Problem 400 */
export function booleanIn(object: JsonObject, key: string, otherwise = false): boolean {
  const value = object[key];
  if (value === undefined || value === null) return otherwise;
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw badRequest(`[{not_boolean,${JSON.stringify(value)}}]`);
}

/** An integer as a number or in digits, as rabbitmqadmin may send it; undefined when it is not there. @throws Problem 400 */
export function integerIn(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number;
  throw badRequest(`{not_integer,${JSON.stringify(value)}}`);
}
