import type { Entry } from '../../engine/broker/index.js';
import {
  emptyTable,
  type Field,
  type FieldTable,
  type FieldType,
  fieldTypeNames,
  firstDeathOf,
  isLost,
  type Message,
  emptyBody,
  plainProperties,
} from '../../engine/message/index.js';
import { diedAt, fingerprintIn, historyOf, originOf, readHistory, redrivesOf } from '../../platform/history/index.js';
import { errorOf } from './letter-facts.js';

/** The form of a payload: text if it is text (`auto`), or always base64. */
export type PayloadEncoding = 'auto' | 'base64';

/** A body in JSON, with the names of RabbitMQ's `get`. */
export interface Payload {
  /** Null when the body cannot be read back from disk: `payload_error` says why. */
  readonly payload: string | null;
  /** `lost` for good, or `unreadable` now, so that a later try may succeed. */
  readonly payload_error?: { readonly kind: 'lost' | 'unreadable'; readonly reason: string };
  readonly payload_encoding: 'string' | 'base64';
  /** The size of the whole body. */
  readonly payload_bytes: number;
  readonly payload_truncated: boolean;
}

/** The most bytes of a character in UTF-8. */
const longestCharacter = 4;

/** @param truncate the most bytes of the body; no character is cut. With 0 the body is not read */
export function payloadOf(message: Message, encoding: PayloadEncoding, truncate: number): Payload {
  const payload_truncated = message.size > truncate;
  const about = { payload_bytes: message.size, payload_truncated };
  let body: Uint8Array;
  try {
    body = truncate === 0 ? emptyBody : message.body;
  } catch (error) {
    const payload_error = { kind: isLost(error) ? 'lost' : 'unreadable', reason: (error as Error).message } as const;
    return { payload: null, payload_encoding: 'base64', ...about, payload_truncated: true, payload_error };
  }
  const shown = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, truncate));
  const text = encoding === 'auto' ? textOf(shown, payload_truncated) : undefined;
  if (text !== undefined) return { payload: text, payload_encoding: 'string', ...about };
  return { payload: shown.toString('base64'), payload_encoding: 'base64', ...about };
}

/** Counts messages whose bodies could not be read, so that a search could not test them. */
export class UnreadableBodies {
  count = 0;
  /** Why the last of these bodies could not be read. */
  reason = '';

  /** The fields for an answer; none if all bodies were read. */
  get json(): { readonly unreadable?: { readonly count: number; readonly reason: string } } {
    return this.count === 0 ? {} : { unreadable: { count: this.count, reason: this.reason } };
  }
}

/** The body of a message; undefined if it cannot be read back from disk, which is counted. */
export function bodyOf(message: Message, unread: UnreadableBodies): Uint8Array | undefined {
  try {
    return message.body;
  } catch (error) {
    if (!isLost(error)) {
      unread.count++;
      unread.reason = (error as Error).message;
    }
    return undefined;
  }
}

/** The bytes as text; undefined if they are no UTF-8. */
function textOf(bytes: Buffer, wasCut: boolean): string | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const least = wasCut ? Math.max(0, bytes.length - longestCharacter + 1) : bytes.length;
  for (let length = bytes.length; length >= least; length--) {
    try {
      return decoder.decode(bytes.subarray(0, length));
    } catch {
      // The last character may be cut.
    }
  }
  return undefined;
}

/** A field as JSON that shows its wire type, because an int16 differs from an int32, and text from bytes. */
export interface TypedField {
  /** RabbitMQ's name of the type: `longstr`, `signedint`, `timestamp` ... */
  readonly type: (typeof fieldTypeNames)[FieldType];
  /**
   * Integers that JSON cannot represent, and NaN and infinities, are text; bytes are base64; a timestamp is in seconds;
   * a decimal is `{ scale, value }`; void is null.
   */
  readonly value: unknown;
  /** The full length in characters or bytes, if only the beginning is shown. */
  readonly length?: number;
}

/** Headers by their names. The object has no prototype, because a header may be called `__proto__`. */
export type TypedTable = Readonly<Record<string, TypedField>>;

/** @param longest the most characters of a string, or bytes, that are shown */
export function typedTable(table: FieldTable, longest = Infinity): TypedTable {
  const typed = Object.create(null) as Record<string, TypedField>;
  for (const [name, field] of table) typed[name] = typedField(field, longest);
  return typed;
}

function typedField(field: Field, longest = Infinity): TypedField {
  const type = fieldTypeNames[field.type];
  switch (field.type) {
    case 'A':
      return { type, value: field.value.map((each) => typedField(each, longest)) };
    case 'F':
      return { type, value: typedTable(field.value, longest) };
    case 'S':
      if (field.value.length <= longest) return { type, value: field.value };
      return { type, value: field.value.slice(0, longest), length: field.value.length };
    case 'x':
      return { type, value: base64(field.value, longest), ...fullLength(field.value.length, longest) };
    case 'V':
      return { type, value: null };
    case 'l':
    case 'T':
      return { type, value: Number.isSafeInteger(Number(field.value)) ? Number(field.value) : String(field.value) };
    case 'f':
    case 'd':
      return { type, value: Number.isFinite(field.value) ? field.value : String(field.value) };
    default:
      return { type, value: field.value };
  }
}

const fullLength = (length: number, longest: number): { readonly length?: number } =>
  length > longest ? { length } : {};

const base64 = (bytes: Uint8Array, longest: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, longest)).toString('base64');

/** The parts of a message that are shown. */
export interface Shown {
  readonly encoding: PayloadEncoding;
  /** The most bytes of the body. */
  readonly truncate: number;
  /** The most characters of each header. */
  readonly longestHeader: number;
  /** True: with the history of its errors. */
  readonly errors?: boolean;
}

/** The id of a message: its position in its queue, which stays the same between pages. */
export const idOf = ({ position }: Entry): string => String(position);

/** A waiting message as JSON; times are milliseconds since 1970. */
export function messageToJson(entry: Entry, shown: Shown): Record<string, unknown> {
  const { encoding, truncate, longestHeader } = shown;
  const { message, redelivered, returns, failures, deadline } = entry;
  const { properties, exchange, routingKey } = message;
  const headers = properties.headers ?? emptyTable;
  const origin = originOf(message);
  return {
    id: idOf(entry),
    exchange,
    routing_key: routingKey,
    origin:
      origin === undefined
        ? null
        : { exchange: origin.exchange, routing_key: origin.routingKey, proven: message.origin !== undefined },
    redelivered,
    returns,
    failures,
    expires_at: deadline === 0 ? null : deadline,
    redrives: redrivesOf(message),
    error: errorOf(message) ?? null,
    fingerprint: fingerprintIn(message) ?? null,
    ...(shown.errors === true && errorsToJson(message)),
    died_at: diedAt(message) ?? null,
    first_death: firstDeathOf(message) ?? null,
    deaths: historyOf(message).map((death) => ({
      reason: death.reason,
      count: death.count,
      queue: death.queue,
      exchange: death.exchange,
      routing_keys: death.routingKeys,
      time: death.time,
      ...(death.originalExpiration !== undefined && { original_expiration: death.originalExpiration }),
    })),
    properties: plainProperties(properties),
    headers: typedTable(headers, longestHeader),
    ...payloadOf(message, encoding, truncate),
  };
}

/** The errors of the attempts, the latest first. */
function errorsToJson({ own }: Message): object {
  const { errors, omitted } = readHistory(own.headers);
  return { errors: errors.map((error) => ({ ...error, at: error.at.getTime() })), errors_omitted: omitted };
}
