import { type Field, type FieldTable, isShortstr, maxShortstrBytes } from '../../../engine/message/index.js';
import { isLockedHeader } from '../../../platform/history/index.js';
import { bytesOfBase64 } from '../../http/body.js';
import type { JsonObject } from '../../http/body.js';
import { badRequest } from '../../http/reply.js';
import { booleanAt, objectEntries, onlyKnown } from '../input.js';
import { isObject, type MergePatch } from './merge-patch.js';
import { headersOfTyped } from './typed-input.js';

/** What a redrive changes of its messages. */
export interface EditOrder {
  /** The new body, of one message. */
  readonly body: Uint8Array | undefined;
  /** What is merged into bodies of JSON. */
  readonly patch: MergePatch | undefined;
  /** Headers by their names; undefined removes one. */
  readonly headers: ReadonlyMap<string, Field | undefined>;
  /** The message as it was goes to the queue `<queue>.edited`. */
  readonly keepsOriginal: boolean;
  /** A body that was JSON may become something else. */
  readonly allowsInvalid: boolean;
}

const keys = ['payload', 'payload_encoding', 'merge_patch', 'headers', 'keep_original', 'allow_invalid'];

/** The most headers of an edit, the most names in a patch, nested ones counted, and its deepest level. */
const most = { headers: 100, names: 1_000, depth: 32 };

/**
 * Reads the key `edit` of a redrive.
 * @throws Problem 400 naming the invalid field
 */
export function editOrderIn(json: unknown): EditOrder {
  const given: JsonObject = Object.fromEntries(objectEntries(json, 'edit'));
  onlyKnown(Object.keys(given), keys, "key of 'edit'");
  const { payload, merge_patch: patch, headers = {}, payload_encoding: encoding } = given;
  if (payload !== undefined && patch !== undefined)
    throw badRequest("'edit.payload' and 'edit.merge_patch' exclude each other");
  const order = {
    body: payloadIn(payload, encoding),
    patch: patch === undefined ? undefined : patchIn(patch),
    headers: headersIn(headers),
    keepsOriginal: booleanAt(given, 'keep_original'),
    allowsInvalid: booleanAt(given, 'allow_invalid'),
  };
  const isEmpty = order.patch === undefined || Object.keys(order.patch).length === 0;
  if (order.body === undefined && isEmpty && order.headers.size === 0) {
    throw badRequest("'edit' changes nothing: give it 'payload', 'merge_patch' or 'headers'");
  }
  return order;
}

/**
 * The bytes of a new body; undefined if there is none.
 * @throws Problem 400
 */
export function payloadIn(payload: unknown, encoding: unknown = 'string'): Uint8Array | undefined {
  if (encoding !== 'string' && encoding !== 'base64') throw badRequest("'payload_encoding' should be string or base64");
  if (payload === undefined) return undefined;
  if (typeof payload !== 'string') throw badRequest("'payload' should be a string");
  if (encoding === 'base64') {
    const bytes = bytesOfBase64(payload);
    if (bytes === undefined) throw badRequest("'payload' is no base64");
    return bytes;
  }
  if (/\p{Surrogate}/u.test(payload)) throw badRequest("'payload' has half of a surrogate pair: send it as base64");
  return Buffer.from(payload);
}

function patchIn(json: unknown): MergePatch {
  if (!isObject(json)) throw badRequest("'edit.merge_patch' should be an object");
  checkPatch(json, { left: most.names }, 1);
  return json;
}

/** Values go into bodies as they are written, so a number that was rounded when the request was read is refused. */
function checkPatch(value: unknown, names: { left: number }, depth: number): void {
  if (depth > most.depth) throw badRequest(`'edit.merge_patch' is nested more than ${most.depth} levels deep`);
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw badRequest(`'edit.merge_patch' has a number beyond 2^53, which JSON parsers round: write it as a string`);
  }
  if (typeof value === 'string' && /\p{Surrogate}/u.test(value)) {
    throw badRequest("'edit.merge_patch' has half of a surrogate pair, which is no character");
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, each] of Object.entries(value)) {
    if (--names.left < 0) throw badRequest(`'edit.merge_patch' has more than ${most.names} names and elements`);
    if (name === '__proto__' && each !== null) {
      throw badRequest("'edit.merge_patch' sets '__proto__', which attacks programs that merge objects");
    }
    checkPatch(each, names, depth + 1);
  }
}

/** A string, a number, a boolean, or `{type, value}` as messages show headers; null removes a header. */
function headersIn(json: unknown): ReadonlyMap<string, Field | undefined> {
  const entries = objectEntries(json, 'edit.headers');
  if (entries.size > most.headers) throw badRequest(`'edit.headers' has more than ${most.headers}`);
  const typed = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of entries) {
    if (!isShortstr(name)) throw badRequest(`a name in 'edit.headers' is longer than ${maxShortstrBytes} bytes`);
    if (isLockedHeader(name)) throw lockedHeader(name);
    if (value !== null) typed[name] = typedOf(value, name);
  }
  const fields: FieldTable = headersOfTyped(typed);
  return new Map([...entries.keys()].map((name) => [name, fields.get(name)]));
}

/** The refusal of an edit of a header that belongs to the broker. */
export const lockedHeader = (name: string) =>
  badRequest(`header '${name}' is locked: an edit leaves dlx-..., x-..., CC and BCC as they are`);

const largestInt32 = 2_147_483_647;

function typedOf(value: unknown, name: string): unknown {
  if (typeof value === 'string') return { type: 'longstr', value };
  if (typeof value === 'boolean') return { type: 'bool', value };
  if (typeof value === 'number' && !Number.isInteger(value)) return { type: 'double', value };
  if (typeof value === 'number') return { type: Math.abs(value) <= largestInt32 ? 'signedint' : 'long', value };
  if (isObject(value)) return value;
  throw badRequest(`'edit.headers.${name}' should be a string, a number, true, false, null or {type, value}`);
}
