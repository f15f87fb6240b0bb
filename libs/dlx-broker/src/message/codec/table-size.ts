import type { Field, FieldTable } from '../field-table.js';
import { PackedTable } from '../packed-table.js';
import { textLength } from './text.js';

/** The bytes of a field table on the wire, with its length in front. */
export function tableSize(table: FieldTable): number {
  if (table instanceof PackedTable) return 4 + table.length;
  let size = 4;
  for (const [name, field] of table) size += 1 + textLength(name) + fieldSize(field);
  return size;
}

/** The bytes of a value, with the letter of its type. */
export function fieldSize(field: Field): number {
  switch (field.type) {
    case 'S':
      return 5 + textLength(field.value);
    case 'x':
      return 5 + field.value.length;
    case 'F':
      return 1 + tableSize(field.value);
    case 'A':
      return field.value.reduce((size, item) => size + fieldSize(item), 5);
    case 't':
    case 'b':
    case 'B':
      return 2;
    case 's':
    case 'u':
      return 3;
    case 'I':
    case 'i':
    case 'f':
      return 5;
    case 'D':
      return 6;
    case 'V':
      return 1;
    default:
      return 9;
  }
}
