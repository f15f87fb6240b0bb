import type { FieldTable, Properties } from '../../engine/message/index.js';
import { tableOfJson, tableToJson } from './field-json.js';
import { badRequest } from '../http/reply.js';
import type { JsonObject } from '../http/json-object.js';

type Name = keyof Properties;
type Kind = 'string' | 'int' | 'table';

/** The fourteen properties: the name in JSON, the name here, and the type. */
const rows: readonly (readonly [json: string, name: Name, kind: Kind])[] = [
  ['content_type', 'contentType', 'string'],
  ['content_encoding', 'contentEncoding', 'string'],
  ['headers', 'headers', 'table'],
  ['delivery_mode', 'deliveryMode', 'int'],
  ['priority', 'priority', 'int'],
  ['correlation_id', 'correlationId', 'string'],
  ['reply_to', 'replyTo', 'string'],
  ['expiration', 'expiration', 'string'],
  ['message_id', 'messageId', 'string'],
  ['timestamp', 'timestamp', 'int'],
  ['type', 'type', 'string'],
  ['user_id', 'userId', 'string'],
  ['app_id', 'appId', 'string'],
  ['cluster_id', 'clusterId', 'string'],
];

/**
 * Reads properties; unknown names are ignored (rule U1).
 * @throws Problem 400 for a value of another type
 */
export function propertiesOfJson(json: unknown): Properties {
  if (typeof json !== 'object' || json === null) throw badRequest(['not_table', 'properties']);
  const properties: Partial<Record<Name, unknown>> = {};
  for (const [key, name, kind] of rows) {
    const value = Object.hasOwn(json, key) ? (json as JsonObject)[key] : undefined;
    if (value !== undefined) properties[name] = valueOf(value, key, kind);
  }
  return properties as Properties;
}

function valueOf(value: unknown, key: string, kind: Kind): unknown {
  if (kind === 'string' && typeof value === 'string') return value;
  if (kind === 'int' && Number.isSafeInteger(value)) return value;
  if (kind === 'table' && typeof value === 'object' && value !== null && !Array.isArray(value))
    return tableOfJson(value);
  throw badRequest([`not_${kind}`, key]);
}

/** Properties as JSON. RabbitMQ shows no properties as an empty list (rule U2). */
export function propertiesToJson(properties: Properties): object {
  const json: Record<string, unknown> = {};
  for (const [key, name, kind] of rows) {
    const value = properties[name];
    if (value === undefined) continue;
    if (kind === 'table') json[key] = tableToJson(value as FieldTable);
    else json[key] = typeof value === 'bigint' ? Number(value) : value;
  }
  return Object.keys(json).length === 0 ? [] : json;
}
