import { type Field, type FieldTable, integerOf } from './field-table.js';

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
