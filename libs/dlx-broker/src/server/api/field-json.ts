import { type Field, type FieldTable, maxNesting, type Properties } from '../../engine/message/index.js';
import type { JsonObject } from '../http/body.js';
import { badRequest, FieldJsonError } from '../http/reply.js';

/**
 * The most values of one table, nested ones included. A frame of 128 KB holds few more, and a table is converted in one
 * turn.
 */
const mostValues = 131_072;

/** The number of values that may still be converted. */
interface Budget {
  left: number;
}

/** Arguments or headers of a parsed JSON object: integers become longs, fractions doubles (rule U1). @throws FieldJsonError */
export function tableOfJson(object: object): FieldTable {
  return tableOf(object, 1, { left: mostValues });
}

function tableOf(object: object, depth: number, budget: Budget): FieldTable {
  if (depth > maxNesting) throw new FieldJsonError(`nested more than ${maxNesting} levels deep`);
  const entries = object instanceof Map ? [...(object as Map<string, unknown>)] : Object.entries(object);
  take(budget, entries.length);
  return new Map(entries.map(([name, value]): [string, Field] => [name, fieldOf(value, depth, budget)]));
}

/** Counts values. @throws FieldJsonError when there are too many */
function take(budget: Budget, count: number): void {
  budget.left -= count;
  if (budget.left < 0) throw new FieldJsonError(`a table has more than ${mostValues} values, nested ones counted`);
}

function listOf(values: readonly unknown[], depth: number, budget: Budget): Field {
  take(budget, values.length);
  return { type: 'A', value: values.map((each) => fieldOf(each, depth + 1, budget)) };
}

function fieldOf(value: unknown, depth: number, budget: Budget): Field {
  switch (typeof value) {
    case 'string':
      return { type: 'S', value };
    case 'boolean':
      return { type: 't', value };
    case 'number':
      return numberOf(value);
    default:
      if (value === null || value === undefined) throw new FieldJsonError('null_not_allowed');
      if (depth > maxNesting) throw new FieldJsonError(`nested more than ${maxNesting} levels deep`);
      if (Array.isArray(value)) return listOf(value, depth, budget);
      return { type: 'F', value: tableOf(value as object, depth + 1, budget) };
  }
}

/** An integer is an int64, unless it has more than 64 bits. */
function numberOf(value: number): Field {
  const isLong = Number.isInteger(value) && !Object.is(value, -0) && Math.abs(value) < 2 ** 63;
  if (!isLong) return { type: 'd', value };
  return { type: 'l', value: Number.isSafeInteger(value) ? value : BigInt(value) };
}

/** Arguments or headers as JSON has them: an object without a prototype, so that no name is special. */
export function tableToJson(table: FieldTable): Record<string, unknown> {
  const object = Object.create(null) as Record<string, unknown>;
  for (const [name, field] of table) object[name] = fieldToJson(field);
  return object;
}

/** A value of arguments or headers as JSON has it. */
export function fieldToJson(field: Field): unknown {
  switch (field.type) {
    case 'F':
      return tableToJson(field.value);
    case 'A':
      return field.value.map(fieldToJson);
    case 'D':
      return field.value.value / 10 ** field.value.scale;
    case 'l':
    case 'T':
      return Number(field.value);
    case 'x':
      return textOrBase64(field.value);
    case 'V':
      return 'undefined';
    default:
      return field.value;
  }
}

/** Bytes that are text are shown as text. */
function textOrBase64(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const lines =
      Buffer.from(bytes)
        .toString('base64')
        .match(/.{1,76}/g) ?? [];
    return `Not UTF-8, base64 is: ${lines.join('\n')}`;
  }
}

type Name = keyof Properties;
type Kind = 'string' | 'int' | 'table';

/** The fourteen properties: the name in JSON, the name here, and the type. */
const propertyRows: readonly (readonly [json: string, name: Name, kind: Kind])[] = [
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
  for (const [key, name, kind] of propertyRows) {
    const value = Object.hasOwn(json, key) ? (json as JsonObject)[key] : undefined;
    if (value !== undefined) properties[name] = propertyOf(value, key, kind);
  }
  return properties as Properties;
}

function propertyOf(value: unknown, key: string, kind: Kind): unknown {
  if (kind === 'string' && typeof value === 'string') return value;
  if (kind === 'int' && Number.isSafeInteger(value)) return value;
  if (kind === 'table' && typeof value === 'object' && value !== null && !Array.isArray(value))
    return tableOfJson(value);
  throw badRequest([`not_${kind}`, key]);
}

/** Properties as JSON. RabbitMQ shows no properties as an empty list (rule U2). */
export function propertiesToJson(properties: Properties): object {
  const json: Record<string, unknown> = {};
  for (const [key, name, kind] of propertyRows) {
    const value = properties[name];
    if (value === undefined) continue;
    if (kind === 'table') json[key] = tableToJson(value as FieldTable);
    else json[key] = typeof value === 'bigint' ? Number(value) : value;
  }
  return Object.keys(json).length === 0 ? [] : json;
}
