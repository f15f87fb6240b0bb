import { type Field, type FieldTable, type FieldType, fieldTypeNames } from '../../engine/message/index.js';

/** A field as JSON that shows its wire type, because an int16 differs from an int32, and text from bytes. */
export interface TypedField {
  /** RabbitMQ's name of the type: `longstr`, `signedint`, `timestamp` ... */
  readonly type: (typeof fieldTypeNames)[FieldType];
  /**
   * Integers that JSON cannot represent, and NaN and infinities, are text; bytes are base64; a timestamp is in seconds;
   * a decimal is `{ scale, value }`; void is null.
   */
  readonly value: unknown;
  /** The full length in characters or bytes, if only the beginning is shown. */
  readonly length?: number;
}

/** Headers by their names. The object has no prototype, because a header may be called `__proto__`. */
export type TypedTable = Readonly<Record<string, TypedField>>;

/** @param longest the most characters of a string, or bytes, that are shown */
export function typedTable(table: FieldTable, longest = Infinity): TypedTable {
  const typed = Object.create(null) as Record<string, TypedField>;
  for (const [name, field] of table) typed[name] = typedField(field, longest);
  return typed;
}

function typedField(field: Field, longest = Infinity): TypedField {
  const type = fieldTypeNames[field.type];
  switch (field.type) {
    case 'A':
      return { type, value: field.value.map((each) => typedField(each, longest)) };
    case 'F':
      return { type, value: typedTable(field.value, longest) };
    case 'S':
      if (field.value.length <= longest) return { type, value: field.value };
      return { type, value: field.value.slice(0, longest), length: field.value.length };
    case 'x':
      return { type, value: base64(field.value, longest), ...cut(field.value.length, longest) };
    case 'V':
      return { type, value: null };
    case 'l':
    case 'T':
      return { type, value: Number.isSafeInteger(Number(field.value)) ? Number(field.value) : String(field.value) };
    case 'f':
    case 'd':
      return { type, value: Number.isFinite(field.value) ? field.value : String(field.value) };
    default:
      return { type, value: field.value };
  }
}

const cut = (length: number, longest: number): { readonly length?: number } => (length > longest ? { length } : {});

const base64 = (bytes: Uint8Array, longest: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, longest)).toString('base64');
