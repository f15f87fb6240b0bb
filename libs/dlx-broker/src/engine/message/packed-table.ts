import { ByteReader, ByteWriter } from './codec/bytes.js';
import {
  endOfField,
  markOf,
  readField,
  readTableBody,
  skipFields,
  skipTable,
  writeTable,
} from './codec/table-codec.js';
import { compareBytes, encodeText, textLength } from './codec/text.js';
import { keptBytes } from './kept-bytes.js';
import { emptyTable, type Field, type FieldTable } from './field-table.js';

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

/**
 * A field table as the bytes of the wire. As objects, a table can take 45 times as much memory. `get` decodes one field
 * and an iteration decodes all; neither result is kept.
 */
export class PackedTable implements FieldTable {
  /** @param bytes hold the fields from `start` to `end`; they were checked before */
  private constructor(
    readonly bytes: Buffer,
    readonly start: number,
    readonly end: number,
    /** See {@link markOf}. */
    readonly marks: number,
  ) {}

  /**
   * Takes a table with its length in front, as {@link readTable} would read it. The table keeps the buffer of the reader in memory.
   * @throws Malformed, UnknownFieldType
   */
  static take(from: ByteReader): FieldTable {
    const start = from.at + 4;
    const marks = skipTable(from);
    return from.at === start ? emptyTable : new PackedTable(from.bytes, start, from.at, marks);
  }

  /** Takes the fields of a table. @throws Malformed, UnknownFieldType */
  static ofFields(bytes: Buffer): FieldTable {
    const marks = skipFields(new ByteReader(bytes));
    return bytes.length === 0 ? emptyTable : new PackedTable(bytes, 0, bytes.length, marks);
  }

  /** Packs a table. Returns the table itself when the wire cannot carry all of its values unchanged. */
  static of(table: FieldTable): FieldTable {
    if (table instanceof PackedTable || !isPackable(table)) return table;
    const writer = new ByteWriter(Buffer.allocUnsafeSlow(4_096));
    writeTable(writer, table);
    return PackedTable.take(new ByteReader(writer.written));
  }

  /** Bytes of its fields. */
  get length(): number {
    return this.end - this.start;
  }

  has(name: string): boolean {
    return this.#find(name) >= 0;
  }

  get(name: string): Field | undefined {
    const at = this.#find(name);
    return at < 0 ? undefined : readField(new ByteReader(this.bytes, at, this.end), 1);
  }

  get size(): number {
    return this.#read().size;
  }

  forEach(visit: (value: Field, key: string, map: FieldTable) => void): void {
    for (const [name, field] of this.#read()) visit(field, name, this);
  }

  entries(): MapIterator<[string, Field]> {
    return this.#read().entries();
  }

  keys(): MapIterator<string> {
    return this.#read().keys();
  }

  values(): MapIterator<Field> {
    return this.#read().values();
  }

  [Symbol.iterator](): MapIterator<[string, Field]> {
    return this.#read().entries();
  }

  /** Whether its names are in order. */
  get isSorted(): boolean {
    const { bytes, end } = this;
    let name = bytes.subarray(0, 0);
    for (let at = this.start; at < end;) {
      const value = at + 1 + (bytes[at] as number);
      const next = bytes.subarray(at + 1, value);
      if (name.compare(next) > 0) return false;
      name = next;
      at = endOfField(bytes, value);
    }
    return true;
  }

  /** The same fields in the order of their names; the last one of those that have the same name. */
  inOrder(): FieldTable {
    const { bytes, end } = this;
    const byName = new Map<string, Buffer>();
    for (let at = this.start; at < end;) {
      const value = at + 1 + (bytes[at] as number);
      const next = endOfField(bytes, value);
      byName.set(bytes.toString('latin1', at + 1, value), bytes.subarray(at, next));
      at = next;
    }
    const all = keptBytes(this.length);
    let length = 0;
    for (const [, field] of [...byName].sort(([one], [other]) => (one < other ? -1 : 1)))
      length += field.copy(all, length);
    return new PackedTable(all, 0, length, this.marks);
  }

  #read(): FieldTable {
    return readTableBody(new ByteReader(this.bytes, this.start, this.end));
  }

  /** Where the value of a name begins: the last value if the table has the name twice, below 0 if it is missing. */
  #find(name: string): number {
    const { bytes, end } = this;
    const wanted = isAscii(name) ? name : encodeText(name).toString('latin1');
    const { length } = wanted;
    const first = wanted.charCodeAt(0);
    if ((this.marks & (length === 0 ? 1 : markOf(length, first))) === 0) return -1;
    let found = -1;
    for (let at = this.start; at < end;) {
      const value = at + 1 + (bytes[at] as number);
      if (bytes[at] === length && isAt(wanted, bytes, at + 1)) found = value;
      at = endOfField(bytes, value);
    }
    return found;
  }
}

function isAt(name: string, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < name.length; index++) if (bytes[at + index] !== name.charCodeAt(index)) return false;
  return true;
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 127) return false;
  return true;
}

/** Tables with more values than this, nested ones counted, are kept as bytes. */
const fewValues = 64;

/** A table that is to be kept for long: as bytes if it is large, else as it is. */
export const compact = (table: FieldTable): FieldTable =>
  table instanceof PackedTable || !hasMoreThan(table, fewValues) ? table : PackedTable.of(table);

/** The table with its names in order (rule H12): the table itself if they are. */
export function sorted(table: FieldTable): FieldTable {
  if (table instanceof PackedTable) return table.isSorted ? table : table.inOrder();
  if (areSorted(table)) return table;
  return new Map([...table.keys()].sort(compareBytes).map((name) => [name, table.get(name) as Field]));
}

function areSorted(table: FieldTable): boolean {
  let last = '';
  for (const name of table.keys()) {
    if (compareBytes(name, last) < 0) return false;
    last = name;
  }
  return true;
}

/** Counts the values of a table, nested ones too. @returns `left` minus their number; below 0 when there are too many */
function countDown(table: FieldTable, left: number): number {
  left -= table.size;
  // An iterator would make an object for each value.
  if (left >= 0) table.forEach((field) => (left = countNested(field, left)));
  return left;
}

/** Counts the values inside of a value. */
function countNested(field: Field, left: number): number {
  if (left < 0) return left;
  if (field.type === 'F') return countDown(field.value, left);
  if (field.type !== 'A') return left;
  left -= field.value.length;
  for (const item of field.value) if (left >= 0) left = countNested(item, left);
  return left;
}

/** Whether a table has more values than `limit`, nested ones counted. */
export const hasMoreThan = (table: FieldTable, limit: number): boolean => countDown(table, limit) < 0;

/** Bytes of headers that are kept as bytes; 0 for others, which are small. */
export const packedLength = (headers: FieldTable | undefined): number =>
  headers instanceof PackedTable ? headers.length : 0;

/** Whether a table is empty. A packed table never is, so it is not decoded. */
export const isEmptyTable = (table: FieldTable): boolean => !(table instanceof PackedTable) && table.size === 0;

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
