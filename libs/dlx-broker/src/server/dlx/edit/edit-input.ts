import {
  type Address,
  type FieldTable,
  isShortstr,
  maxShortstrBytes,
  type PlainProperty,
  plainPropertyNames,
  type Properties,
} from '../../../engine/message/index.js';
import type { JsonObject } from '../../http/body.js';
import { badRequest } from '../../http/reply.js';
import { addressIn, booleanAt, objectEntries, onlyKnown } from '../input.js';
import { payloadIn } from './edit-order.js';
import { headersOfTyped, longOf, textOf } from './typed-input.js';

const keys = [
  'payload',
  'payload_encoding',
  'headers',
  'properties',
  'to',
  'dry_run',
  'allow_invalid',
  'keep_original',
];

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
  /** The message as it was goes to the queue `<queue>.edited`. */
  readonly keepsOriginal: boolean;
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
    body: payloadIn(body['payload'], body['payload_encoding']),
    headers: headers === undefined ? undefined : headersOfTyped(headers),
    properties: propertiesIn(properties),
    to: addressIn(body['to']),
    dryRun: booleanAt(body, 'dry_run'),
    allowsInvalid: booleanAt(body, 'allow_invalid'),
    keepsOriginal: booleanAt(body, 'keep_original'),
  };
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
  if (!isShortstr(text)) throw badRequest(`'${at}' is longer than ${maxShortstrBytes} bytes`);
  return text;
}
