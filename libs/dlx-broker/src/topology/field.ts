import { deepestNesting, integerOf } from '../message/index.js';
import type { Field, FieldTable } from '../message/index.js';
import { DlxConfigurationError } from './configuration-error.js';

const int32Min = -0x8000_0000;
const int32Max = 0x7fff_ffff;

/**
 * A value as users write it, as an AMQP field: whole numbers become int32 or int64, others doubles, a `Date` a
 * timestamp, an array an array, a plain object or a Map a table.
 * @param origin who wrote it, for the error
 * @throws DlxConfigurationError for functions, symbols and class instances, and for what is nested too deep
 */
export const fieldOf = (value: unknown, origin: string): Field => deepFieldOf(value, origin, 1);

function deepFieldOf(value: unknown, origin: string, depth: number): Field {
  if (depth > deepestNesting) {
    throw new DlxConfigurationError(`${origin}: is nested more than ${deepestNesting} levels deep`);
  }
  switch (typeof value) {
    case 'string':
      return { type: 'S', value };
    case 'boolean':
      return { type: 't', value };
    case 'bigint':
      return { type: 'l', value };
    case 'number':
      return numberField(value);
    case 'undefined':
      return { type: 'V', value: undefined };
    case 'object':
      return objectField(value, origin, depth);
    default:
      throw new DlxConfigurationError(`${origin}: a ${typeof value} cannot be a header or an argument`);
  }
}

/** Entries whose value is undefined are left out. */
export function fieldTableOf(
  entries: Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>,
  origin: string,
): FieldTable {
  return deepTableOf(entries, origin, 1);
}

function deepTableOf(
  entries: Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>,
  origin: string,
  depth: number,
): FieldTable {
  const table = new Map<string, Field>();
  for (const [name, value] of entries instanceof Map ? entries : Object.entries(entries)) {
    if (value !== undefined) table.set(name, deepFieldOf(value, `${origin}, '${name}'`, depth));
  }
  return table;
}

function numberField(value: number): Field {
  if (!Number.isInteger(value)) return { type: 'd', value };
  if (value >= int32Min && value <= int32Max) return { type: 'I', value };
  return Number.isSafeInteger(value) ? { type: 'l', value } : { type: 'd', value };
}

function objectField(value: object | null, origin: string, depth: number): Field {
  if (value === null) return { type: 'V', value: undefined };
  if (value instanceof Uint8Array) return { type: 'x', value };
  if (value instanceof Date) return { type: 'T', value: Math.floor(value.getTime() / 1000) };
  if (Array.isArray(value)) return { type: 'A', value: value.map((item) => deepFieldOf(item, origin, depth + 1)) };
  if (value instanceof Map)
    return { type: 'F', value: deepTableOf(value as ReadonlyMap<string, unknown>, origin, depth + 1) };
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) {
    return { type: 'F', value: deepTableOf(value as Record<string, unknown>, origin, depth + 1) };
  }
  throw new DlxConfigurationError(`${origin}: a ${value.constructor.name} cannot be a header or an argument`);
}

/** A value of a field table as JavaScript has it. */
export type Plain =
  string | number | bigint | boolean | undefined | Uint8Array | readonly Plain[] | { readonly [name: string]: Plain };

/** The reverse of {@link fieldOf}; tables become objects without a prototype, for their names come from the wire. */
export function plainOf(field: Field): Plain {
  switch (field.type) {
    case 'A':
      return field.value.map(plainOf);
    case 'F':
      return plainTableOf(field.value);
    case 'D':
      return field.value.value / 10 ** field.value.scale;
    default:
      return field.value;
  }
}

export function plainTableOf(table: FieldTable | undefined): Readonly<Record<string, Plain>> {
  const plain = Object.create(null) as Record<string, Plain>;
  if (table !== undefined) for (const [name, field] of table) plain[name] = plainOf(field);
  return plain;
}

/** One line for people: `x-message-ttl=30000`. */
export function showField(field: Field | undefined): string {
  if (field === undefined) return 'absent';
  if (field.type === 'S') return field.value;
  return (
    JSON.stringify(plainOf(field), (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)) ?? 'void'
  );
}

/** Equal for a broker: integers compare by value whatever their width. */
export function sameField(one: Field | undefined, other: Field | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return kindOf(one) === kindOf(other) && showField(one) === showField(other);
}

export function sameTable(one: FieldTable, other: FieldTable): boolean {
  if (one.size !== other.size) return false;
  for (const [name, field] of one) if (!other.has(name) || !sameField(field, other.get(name))) return false;
  return true;
}

const kindOf = (field: Field): string => (integerOf(field) === undefined ? field.type : 'integer');
