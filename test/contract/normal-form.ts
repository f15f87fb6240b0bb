import type { Field, FieldTable } from '../../libs/dlx-broker/src/engine/message/index.js';
import type { Received, ReturnedMessage, Session } from './driver.js';

/** A header in a form that compares and prints well: name, wire type, value. */
export type NormalField = readonly [name: string, type: string, value: unknown];

export interface NormalForm {
  readonly exchange: string;
  readonly routingKey: string;
  readonly redelivered?: boolean;
  /** All but the headers. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** Sorted by name (rule H12); undefined when the message has no headers property at all. */
  readonly headers: readonly NormalField[] | undefined;
  readonly body: string;
}

/** What of a session it takes to say what differs from run to run. */
export type Viewpoint = Pick<Session, 'plain' | 'begun' | 'now'>;

/** A message with everything that differs from run to run replaced by a placeholder. */
export function normalForm(session: Viewpoint, message: Received | ReturnedMessage): NormalForm {
  const { headers, ...others } = message.properties;
  const properties = Object.fromEntries(
    Object.entries(others)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === 'string' ? session.plain(value) : value]),
  );
  return {
    exchange: message.exchange,
    routingKey: session.plain(message.routingKey),
    ...('redelivered' in message ? { redelivered: message.redelivered } : {}),
    properties,
    headers: headers && normalHeaders(session, headers),
    body: message.body,
  };
}

/** The headers alone. Times of deaths become `NOW` if they lie within the session. */
export function normalHeaders(session: Viewpoint, headers: FieldTable): NormalField[] {
  return normalTable(headers, (name, field) => {
    if (name !== 'x-death' || field.type !== 'A') return normalValue(field);
    return field.value.map((entry) =>
      entry.type !== 'F' ? [entry.type, normalValue(entry)] : normalTable(entry.value, deathField(session)),
    );
  });
}

const deathField =
  (session: Viewpoint) =>
  (name: string, field: Field): unknown => {
    if (name !== 'time' || field.type !== 'T') return normalValue(field);
    const seconds = Number(field.value);
    const within = seconds >= Math.floor(session.begun / 1000) - 1 && seconds <= session.now() / 1000 + 1;
    return within ? 'NOW' : seconds;
  };

function normalTable(table: FieldTable, value: (name: string, field: Field) => unknown): NormalField[] {
  return [...table]
    .map(([name, field]): NormalField => [name, field.type, value(name, field)])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function normalValue(field: Field): unknown {
  if (field.type === 'A') return field.value.map((item) => [item.type, normalValue(item)]);
  if (field.type === 'F') return normalTable(field.value, (_, inner) => normalValue(inner));
  if (field.type === 'x') return [...field.value];
  return field.value;
}
