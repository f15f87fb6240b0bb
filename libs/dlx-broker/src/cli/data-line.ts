import { historyOf } from '../platform/history/index.js';
import {
  type Field,
  type FieldTable,
  fieldTypeNames,
  type Message,
  plainProperties,
  type Properties,
} from '../engine/message/index.js';
import type { Contents, Kept } from './data-restored.js';

/** A body; or `lost` for ever; or `unreadable` at this time. */
export type BodyFound = Uint8Array | 'lost' | 'unreadable';

/**
 * One message of a queue, or of a delayed exchange, as JSON in one line. A header is an object with one key, the name of its
 * type on the wire, so that an int16 differs from an int64: `{ "retries": { "short": 3 } }`.
 */
export function lineOf({ vhost, queue, exchange }: Contents, kept: Kept, body: BodyFound): string {
  const { entry, due, death } = kept;
  const { message, returns, deadline, position } = entry;
  return JSON.stringify({
    vhost,
    ...(queue === undefined ? { delayed_by: exchange } : { queue }),
    ...(due > 0 && { due: isoOf(due) }),
    ...(death !== undefined && { died: diedOf(death) }),
    position,
    redelivered: returns > 0,
    ...(deadline !== 0 && { expires: isoOf(deadline) }),
    exchange: message.exchange,
    routing_key: message.routingKey,
    ...(message.origin !== undefined && { origin: originOf(message.origin) }),
    properties: propertiesOf(message.properties),
    deaths: deathsIn(message),
    ...bodyIn(body),
  });
}

/** Where it was published at first, as the broker recorded it. */
const originOf = ({ exchange, routingKey, queue }: NonNullable<Message['origin']>): object => ({
  exchange,
  routing_key: routingKey,
  ...(queue !== undefined && { failed_in: queue }),
});

const diedOf = ({ reason, time, headers }: NonNullable<Kept['death']>): object => ({
  reason,
  time: isoOf(time),
  ...(headers !== undefined && { headers: tableOf(headers) }),
});

const propertiesOf = (properties: Properties): object => ({
  ...plainProperties(properties),
  ...(properties.headers !== undefined && { headers: tableOf(properties.headers) }),
});

/** Newest first, with the field names of `x-death`. The headers have them, too, in `x-death` and `dlx-deaths`. */
const deathsIn = (message: Message): readonly object[] =>
  historyOf(message).map(({ queue, reason, count, time, exchange, routingKeys }) => ({
    queue,
    reason,
    count,
    time: isoOf(time),
    exchange,
    routing_keys: routingKeys,
  }));

/** Null for a time that is no date: a client can write any number. */
const isoOf = (time: number): string | null => (Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : null);

/** The body as text if it is UTF-8, else as base64. */
function bodyIn(body: BodyFound): object {
  if (body === 'lost') return { damaged: true };
  if (body === 'unreadable') return { unreadable: true };
  try {
    return { body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) };
  } catch {
    return { body_base64: Buffer.from(body).toString('base64') };
  }
}

const tableOf = (table: FieldTable): object =>
  Object.fromEntries([...table].map(([name, field]) => [name, plainOf(field)]));

function plainOf(field: Field): object {
  return { [fieldTypeNames[field.type]]: valueOf(field) };
}

function valueOf(field: Field): unknown {
  switch (field.type) {
    case 'A':
      return field.value.map(plainOf);
    case 'F':
      return tableOf(field.value);
    case 'x':
      return Buffer.from(field.value).toString('base64');
    case 'V':
      return null;
    case 'l':
    case 'T':
      return typeof field.value === 'bigint' ? String(field.value) : field.value;
    case 'f':
    case 'd':
      return Number.isFinite(field.value) ? field.value : String(field.value);
    default:
      return field.value;
  }
}
