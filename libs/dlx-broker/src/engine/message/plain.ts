import { emptyTable, type Field, type FieldTable, maxNesting } from './field-table.js';
import { isShortstr, maxShortstrBytes } from './codec/text.js';

/** A value of a field table as JavaScript has it. */
export type Plain =
  string | number | bigint | boolean | undefined | Uint8Array | readonly Plain[] | { readonly [name: string]: Plain };

/** What {@link checkedFieldTable} does with values that are no fields. */
export interface FieldRules {
  /** True: entries whose value is undefined are left out. False: such entries become void fields. */
  readonly skipUndefined: boolean;
  /** Makes the error to throw. `path` names the value, such as `tenant.names[2]`; `fault` follows it in a sentence. */
  readonly refuse: (path: string, fault: string) => Error;
}

type PlainTable = Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>;

/** Void fields are kept, so that a table is the same after {@link fromFieldTable} and back. */
const allFields: FieldRules = {
  skipUndefined: false,
  refuse: (path, fault) => new TypeError(`header '${path}' ${fault}`),
};

/**
 * Makes headers or arguments of a plain object. Strings become longstr, booleans bool, integers int32 or int64,
 * fractions double, bigints int64, dates timestamps, bytes binary, null and undefined void, arrays arrays, and plain
 * objects and Maps tables.
 * @throws TypeError that names the header whose value cannot be sent
 */
export const toFieldTable = (plain: PlainTable): FieldTable => checkedFieldTable(plain, allFields);

/** As {@link toFieldTable}, by rules of the caller. @throws what `rules.refuse` makes */
export const checkedFieldTable = (plain: PlainTable, rules: FieldRules): FieldTable => tableOf(plain, '', 0, rules);

/**
 * The plain values of headers or arguments: an object without a prototype, so that no name is special. Timestamps are
 * numbers of seconds, int64 beyond the safe integers bigints, void undefined, decimals numbers.
 * @throws TypeError when the table is nested too deep, which no message of a broker is
 */
export const fromFieldTable = (table: FieldTable | undefined): Readonly<Record<string, Plain>> =>
  plainTable(table ?? emptyTable, 1);

/** One value, see {@link fromFieldTable}. */
export const fromField = (field: Field): Plain => plainField(field, 1);

function plainTable(table: FieldTable, depth: number): Readonly<Record<string, Plain>> {
  const plain = Object.create(null) as Record<string, Plain>;
  for (const [name, field] of table) plain[name] = plainField(field, depth);
  return plain;
}

function plainField(field: Field, depth: number): Plain {
  if (depth > maxNesting) throw new TypeError(`a field is nested more than ${maxNesting} levels deep`);
  switch (field.type) {
    case 'A':
      return field.value.map((each) => plainField(each, depth + 1));
    case 'F':
      return plainTable(field.value, depth + 1);
    case 'D':
      return field.value.value / 10 ** field.value.scale;
    case 'x':
      return copyOf(field.value);
    case 'l':
    case 'T':
      return Number.isSafeInteger(Number(field.value)) ? Number(field.value) : field.value;
    default:
      return field.value;
  }
}

/** Messages share fields. Bytes are copied even from a Buffer, whose own `slice` makes a view. */
const copyOf = (bytes: Uint8Array): Uint8Array => Uint8Array.prototype.slice.call(bytes);

function tableOf(plain: object, path: string, depth: number, rules: FieldRules): FieldTable {
  const table = new Map<string, Field>();
  const entries = plain instanceof Map ? (plain as Map<unknown, unknown>) : Object.entries(plain);
  for (const [name, value] of entries) {
    if (value === undefined && rules.skipUndefined) continue;
    if (typeof name !== 'string') throw rules.refuse(path, 'has a name that is no text');
    const at = path === '' ? name : `${path}.${name}`;
    if (!isShortstr(name)) throw rules.refuse(at, `has a name of more than ${maxShortstrBytes} bytes`);
    table.set(name, fieldOf(value, at, depth + 1, rules));
  }
  return table;
}

function fieldOf(value: unknown, path: string, depth: number, rules: FieldRules): Field {
  if (depth > maxNesting) throw rules.refuse(path, `is nested more than ${maxNesting} levels deep`);
  switch (typeof value) {
    case 'string':
      return { type: 'S', value };
    case 'boolean':
      return { type: 't', value };
    case 'number':
      return numberField(value, path, rules);
    case 'bigint':
      return bigintField(value, path, rules);
    case 'undefined':
      return { type: 'V', value: undefined };
    case 'object':
      return value === null ? { type: 'V', value: undefined } : objectField(value, path, depth, rules);
    default:
      throw rules.refuse(path, `is a ${typeof value}, which cannot be sent`);
  }
}

function numberField(value: number, path: string, { refuse }: FieldRules): Field {
  // Minus zero would lose its sign as an integer.
  if (Object.is(value, -0)) return { type: 'd', value };
  if (Number.isSafeInteger(value)) return { type: (value | 0) === value ? 'I' : 'l', value };
  if (!Number.isFinite(value)) throw refuse(path, `is ${value}, which cannot be sent`);
  return { type: 'd', value };
}

function bigintField(value: bigint, path: string, { refuse }: FieldRules): Field {
  if (BigInt.asIntN(64, value) !== value) throw refuse(path, 'is beyond 64 bits');
  return { type: 'l', value: Number.isSafeInteger(Number(value)) ? Number(value) : value };
}

function objectField(value: object, path: string, depth: number, rules: FieldRules): Field {
  if (Array.isArray(value)) {
    // `map` would leave the holes of an array as they are.
    return {
      type: 'A',
      value: Array.from(value, (each, index) => fieldOf(each, `${path}[${index}]`, depth + 1, rules)),
    };
  }
  if (value instanceof Uint8Array) return { type: 'x', value: copyOf(value) };
  if (value instanceof Map || isPlain(value)) return { type: 'F', value: tableOf(value, path, depth, rules) };
  if (isDate(value)) return dateField(value.getTime(), path, rules);
  throw rules.refuse(path, `is an instance of ${value.constructor.name}, which cannot be sent`);
}

/** True for dates of other realms too, which are no instances of this realm's `Date`. */
const isDate = (value: object): value is Date => Object.prototype.toString.call(value) === '[object Date]';

function dateField(milliseconds: number, path: string, { refuse }: FieldRules): Field {
  if (!Number.isFinite(milliseconds)) throw refuse(path, 'is no valid date');
  return { type: 'T', value: Math.floor(milliseconds / 1000) };
}

/** True for plain objects of other realms too: their prototype has no prototype itself. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
