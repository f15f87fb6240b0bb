import type { Field, FieldTable } from '../field-table.js';

/** A name of up to 85 characters always fits into a short string: a character takes at most three bytes. */
const maxNameLength = 85;

/** A lone surrogate stands for a byte that is not UTF-8 (see text.ts), and may be decoded as another character. */
const loneSurrogate = /\p{Surrogate}/u;

/**
 * Whether the wire can carry all of a table unchanged. Only a host in the same process can publish another table.
 */
export function isPackable(table: FieldTable): boolean {
  for (const [name, field] of table) {
    if (name.length > maxNameLength || loneSurrogate.test(name) || !canCarry(field)) return false;
  }
  return true;
}

function canCarry(field: Field): boolean {
  switch (field.type) {
    case 'S':
      return !loneSurrogate.test(field.value);
    case 'b':
      return isIn(field.value, -0x80, 0x7f);
    case 'B':
      return isIn(field.value, 0, 0xff);
    case 's':
      return isIn(field.value, -0x8000, 0x7fff);
    case 'u':
      return isIn(field.value, 0, 0xffff);
    case 'I':
      return isIn(field.value, -0x8000_0000, 0x7fff_ffff);
    case 'i':
      return isIn(field.value, 0, 0xffff_ffff);
    case 'f':
      return Object.is(Math.fround(field.value), field.value);
    case 'l':
    case 'T':
      return isLong(field.value, field.type === 'T');
    case 'D':
      return isIn(field.value.scale, 0, 0xff) && isIn(field.value.value, 0, 0xffff_ffff);
    case 'A':
      return field.value.every(canCarry);
    case 'F':
      return isPackable(field.value);
    default:
      return true;
  }
}

const isIn = (value: number, min: number, max: number): boolean =>
  Number.isInteger(value) && value >= min && value <= max;

/** A safe integer is decoded as a number, any other integer as a bigint. */
function isLong(value: number | bigint, isUnsigned: boolean): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && (!isUnsigned || value >= 0);
  const isSafe = value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
  return !isSafe && (isUnsigned ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value)) === value;
}
