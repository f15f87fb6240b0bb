import type { Entry } from '../../engine/broker/index.js';
import { emptyTable, firstDeathOf, type Message, plainProperties } from '../../engine/message/index.js';
import { diedAt, fingerprintIn, historyOf, originOf, readHistory, redrivesOf } from '../../platform/history/index.js';
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
  /** True: with the history of its errors. */
  readonly errors?: boolean;
}

/** The id of a message: its position in its queue, which stays the same between pages. */
export const idOf = ({ position }: Entry): string => String(position);

/** A waiting message as JSON; times are milliseconds since 1970. */
export function messageToJson(entry: Entry, shown: Shown): Record<string, unknown> {
  const { encoding, truncate, longestHeader } = shown;
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
