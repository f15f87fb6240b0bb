import { textLength } from './codec/text.js';
import type { FieldTable } from './field-table.js';
import { tableSize } from './packed-table.js';

/**
 * The fourteen properties of an AMQP 0-9-1 basic message; an absent one was not sent. Never changed in place: copies of
 * a message in several queues share them (rule H13).
 */
export interface Properties {
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
  readonly headers?: FieldTable | undefined;
  /** 1 transient, 2 persistent. */
  readonly deliveryMode?: number | undefined;
  readonly priority?: number | undefined;
  readonly correlationId?: string | undefined;
  readonly replyTo?: string | undefined;
  /** Milliseconds as a decimal string, exactly as sent (rule B2). */
  readonly expiration?: string | undefined;
  readonly messageId?: string | undefined;
  /** Seconds since 1970. */
  readonly timestamp?: number | bigint | undefined;
  readonly type?: string | undefined;
  readonly userId?: string | undefined;
  readonly appId?: string | undefined;
  readonly clusterId?: string | undefined;
}

/** Routing keys beside the publish key. BCC keys are remembered although the header is removed (rule G2). */
export interface CarbonCopies {
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
}

/** The properties of a message that has none, shared. */
export const noProperties: Properties = {};

/**
 * A copy that may be changed until it is given away. All copies have all properties, in one order: code that reads properties of few
 * shapes is fast, and copies of copies (`{ headers, ...own }`) have more and more shapes.
 */
export const copyProperties = (own: Properties): WritableProperties => ({
  contentType: own.contentType,
  contentEncoding: own.contentEncoding,
  headers: own.headers,
  deliveryMode: own.deliveryMode,
  priority: own.priority,
  correlationId: own.correlationId,
  replyTo: own.replyTo,
  expiration: own.expiration,
  messageId: own.messageId,
  timestamp: own.timestamp,
  type: own.type,
  userId: own.userId,
  appId: own.appId,
  clusterId: own.clusterId,
});

/** Properties with other headers, and without an expiration unless it is given. */
export function withHeaders(own: Properties, headers: FieldTable | undefined, expiration?: string): Properties {
  const copy = copyProperties(own);
  copy.headers = headers;
  copy.expiration = expiration;
  return copy;
}

/** The properties of a message that replaces another one: persistent, with other headers, without expiration and user id. */
export function successorProperties(own: Properties, headers: FieldTable): Properties {
  const copy = copyProperties(own);
  copy.headers = headers;
  copy.deliveryMode = 2;
  copy.expiration = undefined;
  copy.userId = undefined;
  return copy;
}

/** Properties of a message that is being made. */
export type WritableProperties = { -readonly [Name in keyof Properties]: Properties[Name] };

/** A property that is no table. */
type Name = Exclude<keyof Properties, 'headers'>;

let measured: Properties | undefined;
let measuredSize = 0;

/** The bytes of properties in a content header. Those of the last call are known: a queue asks for a message twice in a row. */
export function propertiesSize(own: Properties): number {
  if (own !== measured) {
    measuredSize = sizeInHeader(own);
    measured = own;
  }
  return measuredSize;
}

function sizeInHeader(own: Properties): number {
  let size = 2; // flags
  if (own.headers !== undefined) size += tableSize(own.headers);
  if (own.deliveryMode !== undefined) size++;
  if (own.priority !== undefined) size++;
  if (own.timestamp !== undefined) size += 8;
  size += shortSize(own.contentType) + shortSize(own.contentEncoding) + shortSize(own.correlationId);
  size += shortSize(own.replyTo) + shortSize(own.expiration) + shortSize(own.messageId) + shortSize(own.type);
  return size + shortSize(own.userId) + shortSize(own.appId) + shortSize(own.clusterId);
}

const shortSize = (text: string | undefined): number => (text === undefined ? 0 : 1 + textLength(text));

/** All properties but the headers, with their names in RabbitMQ's JSON. */
const names: Readonly<Record<Name, string>> = {
  contentType: 'content_type',
  contentEncoding: 'content_encoding',
  deliveryMode: 'delivery_mode',
  priority: 'priority',
  correlationId: 'correlation_id',
  replyTo: 'reply_to',
  expiration: 'expiration',
  messageId: 'message_id',
  timestamp: 'timestamp',
  type: 'type',
  userId: 'user_id',
  appId: 'app_id',
  clusterId: 'cluster_id',
};

const entries = Object.entries(names) as readonly (readonly [Name, string])[];

/** Properties without the headers for JSON. A timestamp beyond the safe integers is a text. */
export function plainProperties(properties: Properties): Record<string, string | number> {
  const plain: Record<string, string | number> = {};
  for (const [name, plainName] of entries) {
    const value = properties[name];
    if (value !== undefined) plain[plainName] = typeof value === 'bigint' ? String(value) : value;
  }
  return plain;
}

/** Reads what {@link plainProperties} wrote. */
export function propertiesFromPlain(plain: Readonly<Record<string, string | number>>): Properties {
  const properties: Partial<Record<Name, string | number | bigint>> = {};
  for (const [name, plainName] of entries) {
    const value = plain[plainName];
    if (value !== undefined)
      properties[name] = name === 'timestamp' && typeof value === 'string' ? BigInt(value) : value;
  }
  return properties as Properties;
}
