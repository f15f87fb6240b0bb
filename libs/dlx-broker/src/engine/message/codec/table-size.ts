import type { Field, FieldTable } from '../field-table.js';
import { PackedTable } from '../packed-table.js';
import { textLength } from './text.js';

/** A function that measures the bytes of a text. */
type Measure = (text: string) => number;

/** No UTF-16 code unit takes more than three bytes. */
const upperBound: Measure = (text) => text.length * 3;

/** The bytes of a field table on the wire, with its length in front. */
export function tableSize(table: FieldTable, lengthOf: Measure = textLength): number {
  if (table instanceof PackedTable) return 4 + table.length;
  let size = 4;
  // `for..of` would make an array for each entry.
  table.forEach((field, name) => {
    size += 1 + lengthOf(name) + fieldSize(field, lengthOf);
  });
  return size;
}

function arraySize(items: readonly Field[], lengthOf: Measure): number {
  let size = 5;
  for (const item of items) size += fieldSize(item, lengthOf);
  return size;
}

/** Whether {@link tableSize} is above a limit. A table far below it is decided by an upper bound, without measuring texts. */
export const isLargerThan = (table: FieldTable, limit: number): boolean =>
  tableSize(table, upperBound) > limit && tableSize(table) > limit;

/** The bytes of a value, with the letter of its type. */
export function fieldSize(field: Field, lengthOf: Measure = textLength): number {
  switch (field.type) {
    case 'S':
      return 5 + lengthOf(field.value);
    case 'x':
      return 5 + field.value.length;
    case 'F':
      return 1 + tableSize(field.value, lengthOf);
    case 'A':
      return arraySize(field.value, lengthOf);
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
