import type { Properties } from './properties.js';

/** A property that is no table. */
export type PlainProperty = Exclude<keyof Properties, 'headers'>;

type Name = PlainProperty;

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

/** The properties but the headers, by their names in RabbitMQ's JSON. */
export const plainPropertyNames: ReadonlyMap<string, PlainProperty> = new Map(
  entries.map(([name, plainName]) => [plainName, name]),
);

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
