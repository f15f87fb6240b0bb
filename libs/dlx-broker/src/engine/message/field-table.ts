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
