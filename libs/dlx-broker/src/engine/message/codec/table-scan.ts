import { maxNesting } from '../nesting.js';
import { type ByteReader, Malformed, UnknownFieldType } from './byte-reader.js';

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
