import { compareBytes } from './text.js';
import { type Decimal, emptyTable, type Field, type FieldTable, maxNesting } from '../field-table.js';
import { type ByteReader, type ByteWriter, Malformed, UnknownFieldType } from './bytes.js';

/**
 * Reads a field table with its length in front (rule T8). Of two fields of one name the last counts.
 * @throws Malformed, UnknownFieldType
 */
export function readTable(from: ByteReader, depth = 1): FieldTable {
  if (depth > maxNesting) throw new Malformed('too deep');
  const length = from.long();
  if (length === 0) return emptyTable;
  const { at, end } = from;
  from.take(length);
  return within(from, at, end, () => {
    const table = new Map<string, Field>();
    while (from.at < from.end) table.set(from.shortstr(), readField(from, depth));
    return table;
  });
}

/** The rest of the bytes as a table without a length, as AMQPLAIN has it. */
export function readTableBody(from: ByteReader): FieldTable {
  const table = new Map<string, Field>();
  while (from.at < from.end) table.set(from.shortstr(), readField(from, 1));
  return table;
}

/** Reads a part of the bytes; a value that reaches beyond the part is Malformed. */
function within<T>(from: ByteReader, start: number, end: number, read: () => T): T {
  const after = from.at;
  from.at = start;
  from.end = after;
  try {
    return read();
  } finally {
    from.at = after;
    from.end = end;
  }
}

function readArray(from: ByteReader, depth: number): readonly Field[] {
  if (depth > maxNesting) throw new Malformed('too deep');
  const length = from.long();
  const { at, end } = from;
  from.take(length);
  return within(from, at, end, () => {
    const items: Field[] = [];
    while (from.at < from.end) items.push(readField(from, depth));
    return items;
  });
}

export function readField(from: ByteReader, depth: number): Field {
  const letter = from.octet();
  switch (letter) {
    case 0x53: // S
      return { type: 'S', value: from.longstr() };
    case 0x49: // I
      return { type: 'I', value: from.int32() };
    case 0x6c: // l
    case 0x4c: // L: the same, from older clients
      return { type: 'l', value: from.int64() };
    case 0x74: // t
      return { type: 't', value: from.octet() !== 0 };
    case 0x62: // b
      return { type: 'b', value: from.int8() };
    case 0x42: // B
      return { type: 'B', value: from.octet() };
    case 0x73: // s
      return { type: 's', value: from.int16() };
    case 0x75: // u
      return { type: 'u', value: from.short() };
    case 0x69: // i
      return { type: 'i', value: from.long() };
    case 0x66: // f
      return { type: 'f', value: from.float() };
    case 0x64: // d
      return { type: 'd', value: from.double() };
    case 0x54: // T
      return { type: 'T', value: from.longlong() };
    case 0x44: // D
      return { type: 'D', value: readDecimal(from) };
    case 0x78: // x
      return { type: 'x', value: from.longbytes() };
    case 0x41: // A
      return { type: 'A', value: readArray(from, depth + 1) };
    case 0x46: // F
      return { type: 'F', value: readTable(from, depth + 1) };
    case 0x56: // V
      return { type: 'V', value: undefined };
    default:
      throw new UnknownFieldType(letter);
  }
}

const readDecimal = (from: ByteReader): Decimal => ({ scale: from.octet(), value: from.long() });

/** Writes a field table with its length in front; every type keeps its letter (rule H4). */
export function writeTable(to: ByteWriter, table: FieldTable): void {
  const opened = to.openLength();
  for (const [name, field] of table) {
    to.shortstr(name);
    writeField(to, field);
  }
  to.closeLength(opened);
}

/** Writes the top level in the order of the names, as RabbitMQ does after a death (rule H12). */
export function writeSortedTable(to: ByteWriter, table: FieldTable): void {
  const entries = [...table].sort(byName);
  const opened = to.openLength();
  for (const [name, field] of entries) {
    to.shortstr(name);
    writeField(to, field);
  }
  to.closeLength(opened);
}

const byName = ([one]: Entry, [other]: Entry): number => compareBytes(one, other);

type Entry = readonly [name: string, field: Field];

function writeField(to: ByteWriter, field: Field): void {
  to.octet(field.type.charCodeAt(0));
  switch (field.type) {
    case 'S':
      return to.longstr(field.value);
    case 't':
      return to.octet(field.value ? 1 : 0);
    case 'b':
    case 'B':
      return to.octet(field.value);
    case 's':
    case 'u':
      return to.short(field.value);
    case 'I':
    case 'i':
      return to.long(field.value);
    case 'l':
    case 'T':
      return to.longlong(field.value);
    case 'f':
      return to.float(field.value);
    case 'd':
      return to.double(field.value);
    case 'D':
      to.octet(field.value.scale);
      return to.long(field.value.value);
    case 'x':
      return to.longbytes(field.value);
    case 'A':
      return writeArray(to, field.value);
    case 'F':
      return writeTable(to, field.value);
    case 'V':
      return undefined;
  }
}

function writeArray(to: ByteWriter, items: readonly Field[]): void {
  const opened = to.openLength();
  for (const item of items) writeField(to, item);
  to.closeLength(opened);
}

/** Bytes of a value by its letter, for the types of a fixed size. */
const sizes: ReadonlyMap<number, number> = new Map(
  Object.entries({ t: 1, b: 1, B: 1, s: 2, u: 2, I: 4, i: 4, f: 4, l: 8, L: 8, d: 8, T: 8, D: 5, V: 0 }).map(
    ([letter, size]) => [letter.charCodeAt(0), size],
  ),
);
const [text, octets, list, table] = ['S', 'x', 'A', 'F'].map((letter) => letter.charCodeAt(0));

/**
 * Skips a field table with its length in front, and checks that all of it can be decoded.
 * @returns the marks of the names at its top level, see {@link markOf}
 * @throws what reading it would throw: Malformed, UnknownFieldType
 */
export function skipTable(from: ByteReader, depth = 1): number {
  if (depth > maxNesting) throw new Malformed('too deep');
  const outer = enter(from);
  const marks = skipFields(from, depth);
  from.end = outer;
  return marks;
}

/** The same for the fields of a table, up to the end of the bytes. */
export function skipFields(from: ByteReader, depth = 1): number {
  const { bytes } = from;
  let marks = 0;
  while (from.at < from.end) {
    const length = from.octet();
    const at = from.take(length);
    marks |= length === 0 ? 1 : markOf(length, bytes[at] as number);
    skipField(from, depth);
  }
  return marks;
}

/**
 * One bit of a Bloom filter of 32 bits, by the length and the first byte of a name. A name whose bit is not set is not
 * in the table.
 */
export const markOf = (length: number, first: number): number => 1 << ((length * 7 + first) & 31);

function skipArray(from: ByteReader, depth: number): void {
  if (depth > maxNesting) throw new Malformed('too deep');
  const outer = enter(from);
  while (from.at < from.end) skipField(from, depth);
  from.end = outer;
}

/** Limits the reader to a part that has its length in front. @returns where the outer part ends */
function enter(from: ByteReader): number {
  const length = from.long();
  const { at, end } = from;
  from.take(length);
  from.at = at;
  from.end = at + length;
  return end;
}

function skipField(from: ByteReader, depth: number): void {
  const letter = from.octet();
  const size = sizes.get(letter);
  if (size !== undefined) from.take(size);
  else if (letter === text || letter === octets) from.take(from.long());
  else if (letter === list) skipArray(from, depth + 1);
  else if (letter === table) skipTable(from, depth + 1);
  else throw new UnknownFieldType(letter);
}

/** Where a value with its type letter ends, in bytes that {@link skipTable} has checked. */
export function endOfField(bytes: Buffer, at: number): number {
  const size = sizes.get(bytes[at] as number);
  return size === undefined ? at + 5 + bytes.readUInt32BE(at + 1) : at + 1 + size;
}
