/**
 * A value of an AMQP field table together with its wire type, so that what a client sent as an int16 comes back as an
 * int16, nested or not, also after dead-lettering (rule H4). The letters are RabbitMQ's (rule T8).
 */
export type Field =
  | { readonly type: 't'; readonly value: boolean }
  | { readonly type: 'b' | 'B' | 's' | 'u' | 'I' | 'i' | 'f' | 'd'; readonly value: number }
  /** int64 and timestamp (seconds): a number while it is a safe integer, a bigint beyond. */
  | { readonly type: 'l' | 'T'; readonly value: number | bigint }
  | { readonly type: 'D'; readonly value: Decimal }
  | { readonly type: 'S'; readonly value: string }
  | { readonly type: 'x'; readonly value: Uint8Array }
  | { readonly type: 'A'; readonly value: readonly Field[] }
  | { readonly type: 'F'; readonly value: FieldTable }
  | { readonly type: 'V'; readonly value: undefined };

/** One letter of the wire, see {@link Field}. */
export type FieldType = Field['type'];

/** A decimal as AMQP has it: value divided by ten to the power of scale. */
export interface Decimal {
  readonly scale: number;
  readonly value: number;
}

/** Headers and arguments. A Map and never a plain object: names such as `__proto__` arrive from the wire. */
export type FieldTable = ReadonlyMap<string, Field>;

/** What RabbitMQ calls each wire type in its error texts (rule F9). */
export const fieldTypeNames: Readonly<Record<FieldType, string>> = {
  t: 'bool',
  b: 'byte',
  B: 'unsignedbyte',
  s: 'short',
  u: 'unsignedshort',
  I: 'signedint',
  i: 'unsignedint',
  l: 'long',
  f: 'float',
  d: 'double',
  T: 'timestamp',
  D: 'decimal',
  S: 'longstr',
  x: 'binary',
  A: 'array',
  F: 'table',
  V: 'void',
};

/** The number of any integer wire type (rule F9), undefined for other types. A bigint only beyond the safe integers. */
export function integerOf(value: Field | undefined): number | bigint | undefined {
  switch (value?.type) {
    case 'b':
    case 'B':
    case 's':
    case 'u':
    case 'I':
    case 'i':
    case 'l':
      return value.value;
    default:
      return undefined;
  }
}

/** A field of a string: `longstr` of AMQP. */
export const longstr = (value: string): Field => ({ type: 'S', value });
/** A field of a signed whole number in 32 bits. */
export const int32 = (value: number): Field => ({ type: 'I', value });
export const int64 = (value: number | bigint): Field => ({ type: 'l', value });
export const timestamp = (seconds: number): Field => ({ type: 'T', value: seconds });
export const bool = (value: boolean): Field => ({ type: 't', value });
export const array = (value: readonly Field[]): Field => ({ type: 'A', value });
export const table = (value: FieldTable): Field => ({ type: 'F', value });

/** The text with this name; undefined when there is no field of this name, or no text. */
export function textAt(table: FieldTable | undefined, name: string): string | undefined {
  const field = table?.get(name);
  return field?.type === 'S' ? field.value : undefined;
}

/** The empty table, shared. */
export const emptyTable: FieldTable = new Map<string, Field>();

/** The deepest nesting of tables and arrays. Functions that walk a value recurse, and rely on this limit. */
export const maxNesting = 64;

/**
 * Finds a value that is nested too deep, or a number that is no integer of 64 bits. Only a host in the same process can pass
 * such a value.
 * @returns the fault with the name of the entry; undefined when there is none
 */
export function faultIn(table: FieldTable): string | undefined {
  let found: string | undefined;
  // `for..of` would make an array for each entry.
  table.forEach((field, name) => {
    if (found !== undefined) return;
    const fault = faultOf(field, 1);
    if (fault !== undefined) found = `'${name.slice(0, 64)}' ${fault}`;
  });
  return found;
}

function faultOf(field: Field, depth: number): string | undefined {
  if (depth > maxNesting) return `is nested more than ${maxNesting} levels deep`;
  switch (field.type) {
    case 'A':
      return firstFault(field.value, depth);
    case 'F':
      return faultInside(field.value, depth);
    case 'T':
      return notAnInteger(field.value);
    default: {
      const integer = integerOf(field);
      return integer === undefined ? undefined : notAnInteger(integer);
    }
  }
}

function faultInside(table: FieldTable, depth: number): string | undefined {
  let found: string | undefined;
  table.forEach((field) => (found ??= faultOf(field, depth + 1)));
  return found;
}

function firstFault(fields: readonly Field[], depth: number): string | undefined {
  for (const field of fields) {
    const fault = faultOf(field, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const notAnInteger = (value: number | bigint): string | undefined =>
  isInteger(value) ? undefined : `holds ${value}, which is no integer of 64 bits`;

const isInteger = (value: number | bigint): boolean =>
  typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isInteger(value) && Math.abs(value) < 2 ** 63;

/**
 * Keeps the last result of a function, and returns it again as long as the parts of which it is made stay the same. While a service is
 * away, thousands of messages fail in the same way within a millisecond and wait: their headers are one object.
 */
export class Repeated<Result extends object> {
  #parts: readonly unknown[] = [];
  #result: Result | undefined;

  /** @param make called if a part is not the same as before. Its result must not change any more */
  of(parts: readonly unknown[], make: () => Result): Result {
    if (this.#result !== undefined && areSame(this.#parts, parts)) return this.#result;
    const result = make();
    this.#parts = parts;
    return (this.#result = result);
  }
}

/** {@link Repeated} for fields of one value. */
export class RepeatedField<T extends string | number> {
  #value: T | undefined;
  #field: Field | undefined;

  constructor(private readonly make: (value: T) => Field) {}

  of(value: T): Field {
    if (this.#field !== undefined && this.#value === value) return this.#field;
    this.#value = value;
    return (this.#field = this.make(value));
  }
}

function areSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  for (let index = 0; index < other.length; index++) if (one[index] !== other[index]) return false;
  return one.length === other.length;
}
