import type { Entry } from '../../broker/index.js';
import { deathsOf, firstDeathOf, emptyTable, type Properties } from '../../message/index.js';
import { originOf, redrivesOf } from '../../history/index.js';
import { errorOf } from './letter-facts.js';
import { type PayloadEncoding, payloadOf } from './payload.js';
import { typedTable } from './typed-field.js';

/** The parts of a message that are shown. */
export interface Shown {
  readonly encoding: PayloadEncoding;
  /** The most bytes of the body. */
  readonly truncate: number;
  /** The most characters of each header. */
  readonly longestHeader: number;
}

/** The properties by their names in JSON. */
const propertyNames: readonly (readonly [keyof Properties, string])[] = [
  ['contentType', 'content_type'],
  ['contentEncoding', 'content_encoding'],
  ['deliveryMode', 'delivery_mode'],
  ['priority', 'priority'],
  ['correlationId', 'correlation_id'],
  ['replyTo', 'reply_to'],
  ['expiration', 'expiration'],
  ['messageId', 'message_id'],
  ['timestamp', 'timestamp'],
  ['type', 'type'],
  ['userId', 'user_id'],
  ['appId', 'app_id'],
  ['clusterId', 'cluster_id'],
];

/** The id of a message: its position in its queue, which stays the same between pages. */
export const idOf = ({ position }: Entry): string => String(position);

/** A waiting message as JSON; times are milliseconds since 1970. */
export function messageToJson(entry: Entry, { encoding, truncate, longestHeader }: Shown): Record<string, unknown> {
  const { message, returns, failures, deadline } = entry;
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
    redelivered: returns > 0,
    returns,
    failures,
    expires_at: deadline === 0 ? null : deadline,
    redrives: redrivesOf(message),
    error: errorOf(message) ?? null,
    first_death: firstDeathOf(message) ?? null,
    deaths: deathsOf(message).map((death) => ({
      reason: death.reason,
      count: death.count,
      queue: death.queue,
      exchange: death.exchange,
      routing_keys: death.routingKeys,
      time: death.time,
      ...(death.originalExpiration !== undefined && { original_expiration: death.originalExpiration }),
    })),
    properties: propertiesToJson(properties),
    headers: typedTable(headers, longestHeader),
    ...payloadOf(message, encoding, truncate),
  };
}

function propertiesToJson(properties: Properties): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const [name, called] of propertyNames) {
    const value = properties[name];
    if (value !== undefined) json[called] = typeof value === 'bigint' ? String(value) : value;
  }
  return json;
}
