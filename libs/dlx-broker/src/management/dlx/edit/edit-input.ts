import { type Address, type FieldTable, isShortstr, longestShortstr } from '../../../message/index.js';
import { type PlainProperty, plainPropertyNames, type Properties } from '../../../message/index.js';
import { bytesOfBase64 } from '../../http/base64.js';
import type { JsonObject } from '../../http/json-object.js';
import { badRequest } from '../../http/reply.js';
import { objectEntries, onlyKnown } from '../input.js';
import { addressIn, booleanAt } from '../redrive-input.js';
import { headersOfTyped, longOf, textOf } from './typed-input.js';

const keys = ['payload', 'payload_encoding', 'headers', 'properties', 'to', 'dry_run', 'allow_invalid'];

/** The keys without which a request, for example one with an empty body, is no edit. */
const acting = ['payload', 'headers', 'properties', 'to', 'dry_run'];

/** The parts of a message that a request replaces, and where the message goes. */
export interface Edit {
  /** Default: the body of the message. */
  readonly body: Uint8Array | undefined;
  /** All headers. Default: those of the message. */
  readonly headers: FieldTable | undefined;
  /** Single properties; undefined removes one. */
  readonly properties: Omit<Properties, 'headers'>;
  /** Default: the recorded origin of the message. */
  readonly to: Address | undefined;
  /** Says what would happen, and changes nothing. */
  readonly dryRun: boolean;
  /** A body that was JSON may become something else. */
  readonly allowsInvalid: boolean;
}

/**
 * Reads an edit.
 * @throws Problem 400 naming the invalid field
 */
export function editIn(body: JsonObject): Edit {
  onlyKnown(Object.keys(body), keys, 'key');
  if (!acting.some((key) => body[key] !== undefined)) {
    throw badRequest(
      `an edit has at least one of ${acting.join(', ')}; POST /api/dlx/redrives sends a message as it is`,
    );
  }
  const { headers, properties = {} } = body;
  return {
    body: payloadIn(body),
    headers: headers === undefined ? undefined : headersOfTyped(headers),
    properties: propertiesIn(properties),
    to: addressIn(body['to']),
    dryRun: booleanAt(body, 'dry_run'),
    allowsInvalid: booleanAt(body, 'allow_invalid'),
  };
}

function payloadIn({ payload, payload_encoding: encoding = 'string' }: JsonObject): Uint8Array | undefined {
  if (encoding !== 'string' && encoding !== 'base64') throw badRequest("'payload_encoding' should be string or base64");
  if (payload === undefined) return undefined;
  if (typeof payload !== 'string') throw badRequest("'payload' should be a text");
  if (encoding === 'base64') {
    const bytes = bytesOfBase64(payload);
    if (bytes === undefined) throw badRequest("'payload' is no base64");
    return bytes;
  }
  if (/\p{Surrogate}/u.test(payload)) throw badRequest("'payload' has half of a surrogate pair: send it as base64");
  return Buffer.from(payload);
}

/** The properties that are numbers. All others are short strings. */
const numbers: Partial<Readonly<Record<PlainProperty, readonly [least: bigint, most: bigint]>>> = {
  deliveryMode: [1n, 2n],
  priority: [0n, 255n],
  timestamp: [0n, 2n ** 64n - 1n],
};

function propertiesIn(json: unknown): Edit['properties'] {
  const entries = objectEntries(json, 'properties');
  if (entries.has('headers')) throw badRequest("'headers' stand beside 'properties', not in them");
  onlyKnown(entries.keys(), [...plainPropertyNames.keys()], "key of 'properties'");
  const properties: Partial<Record<PlainProperty, unknown>> = {};
  for (const [key, value] of entries) {
    const name = plainPropertyNames.get(key) as PlainProperty;
    properties[name] = value === null ? undefined : propertyOf(name, value, `properties.${key}`);
  }
  return properties as Edit['properties'];
}

function propertyOf(name: PlainProperty, value: unknown, at: string): unknown {
  const range = numbers[name];
  if (range !== undefined) return longOf(value, at, ...range);
  const text = textOf(value, `'${at}'`);
  if (!isShortstr(text)) throw badRequest(`'${at}' is longer than ${longestShortstr} bytes`);
  return text;
}
