import type { Field, FieldTable } from './field-table.js';
import { deepestNesting } from './nesting.js';

/**
 * Makes headers or arguments of a plain object. Strings become longstr, booleans bool, integers int32 or int64,
 * fractions double, bigints int64, dates timestamps, bytes binary, null and undefined void, arrays arrays, and plain
 * objects and Maps tables.
 * @throws TypeError that names the header whose value cannot travel
 */
export function toFieldTable(plain: Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>): FieldTable {
  return tableOf(plain, '', 0);
}

/** One value, see {@link toFieldTable}. */
export const toField = (value: unknown, name = 'value'): Field => fieldOf(value, name, 0);

/**
 * The plain values of headers or arguments: an object without a prototype, so that no name is special. Timestamps are
 * numbers of seconds, int64 beyond the safe integers bigints, void undefined, decimals numbers.
 * @throws TypeError when it is nested too deep, as no message of a broker is
 */
export function fromFieldTable(table: FieldTable): Record<string, unknown> {
  return plainTable(table, 1);
}

/** One value, see {@link fromFieldTable}. */
export const fromField = (field: Field): unknown => plainField(field, 1);

function plainTable(table: FieldTable, depth: number): Record<string, unknown> {
  const plain = Object.create(null) as Record<string, unknown>;
  for (const [name, field] of table) plain[name] = plainField(field, depth);
  return plain;
}

function plainField(field: Field, depth: number): unknown {
  if (depth > deepestNesting) throw new TypeError(`a field is nested more than ${deepestNesting} levels deep`);
  switch (field.type) {
    case 'A':
      return field.value.map((each) => plainField(each, depth + 1));
    case 'F':
      return plainTable(field.value, depth + 1);
    case 'D':
      return field.value.value / 10 ** field.value.scale;
    case 'l':
    case 'T':
      return Number.isSafeInteger(Number(field.value)) ? Number(field.value) : field.value;
    default:
      return field.value;
  }
}

function tableOf(plain: object, path: string, depth: number): FieldTable {
  const table = new Map<string, Field>();
  const entries = plain instanceof Map ? (plain as Map<string, unknown>) : Object.entries(plain);
  for (const [name, value] of entries) {
    table.set(name, fieldOf(value, path === '' ? name : `${path}.${name}`, depth + 1));
  }
  return table;
}

function fieldOf(value: unknown, path: string, depth: number): Field {
  if (depth > deepestNesting) {
    throw new TypeError(`header '${path}' is nested more than ${deepestNesting} levels deep`);
  }
  switch (typeof value) {
    case 'string':
      return { type: 'S', value };
    case 'boolean':
      return { type: 't', value };
    case 'number':
      return numberField(value, path);
    case 'bigint':
      return bigintField(value, path);
    case 'undefined':
      return { type: 'V', value: undefined };
    case 'object':
      return value === null ? { type: 'V', value: undefined } : objectField(value, path, depth);
    default:
      throw new TypeError(`header '${path}' is a ${typeof value}, which cannot travel`);
  }
}

function numberField(value: number, path: string): Field {
  if (Number.isSafeInteger(value)) return (value | 0) === value ? int(value) : { type: 'l', value };
  if (!Number.isFinite(value)) throw new TypeError(`header '${path}' is ${value}, which cannot travel`);
  return { type: 'd', value };
}

/** Minus zero would lose its sign as an integer. */
const int = (value: number): Field => (Object.is(value, -0) ? { type: 'd', value } : { type: 'I', value });

function bigintField(value: bigint, path: string): Field {
  if (BigInt.asIntN(64, value) !== value) throw new TypeError(`header '${path}' is beyond 64 bits`);
  return { type: 'l', value: Number.isSafeInteger(Number(value)) ? Number(value) : value };
}

function objectField(value: object, path: string, depth: number): Field {
  if (Array.isArray(value)) {
    return { type: 'A', value: value.map((each, index) => fieldOf(each, `${path}[${index}]`, depth + 1)) };
  }
  if (value instanceof Uint8Array) return { type: 'x', value };
  if (isDate(value)) return dateField(value.getTime(), path);
  if (value instanceof Map || isPlain(value)) return { type: 'F', value: tableOf(value, path, depth) };
  throw new TypeError(`header '${path}' is neither a plain object nor a plain value, which cannot travel`);
}

const isDate = (value: object): value is { getTime(): number } =>
  !isPlain(value) && typeof (value as { getTime?: unknown }).getTime === 'function';

function dateField(milliseconds: number, path: string): Field {
  if (Number.isNaN(milliseconds)) throw new TypeError(`header '${path}' is no valid date`);
  return { type: 'T', value: Math.floor(milliseconds / 1000) };
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Plain objects of other realms too: theirs is a prototype without a prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
