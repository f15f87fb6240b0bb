import type { Field, FieldTable } from '../../engine/message/index.js';
import type { ByteSink } from './byte-sink.js';
import type { ByteSource } from './byte-source.js';

/** Writes the number of fields, then name, type and value of each. Every type is read as it was (rule H4). */
export function writeTable(to: ByteSink, table: FieldTable): void {
  to.varint(table.size);
  for (const [name, field] of table) {
    to.text(name);
    writeField(to, field);
  }
}

export function readTable(from: ByteSource): FieldTable {
  const table = new Map<string, Field>();
  for (let left = from.varint(); left > 0; left--) table.set(from.text(), readField(from));
  return table;
}

function writeField(to: ByteSink, field: Field): void {
  to.octet(field.type.charCodeAt(0));
  switch (field.type) {
    case 't':
      return to.octet(field.value ? 1 : 0);
    case 'S':
      return to.text(field.value);
    case 'l':
    case 'T':
      return writeLong(to, field.value);
    case 'D':
      to.octet(field.value.scale);
      return to.double(field.value.value);
    case 'x':
      return to.octets(field.value);
    case 'A':
      to.varint(field.value.length);
      for (const item of field.value) writeField(to, item);
      return undefined;
    case 'F':
      return writeTable(to, field.value);
    case 'V':
      return undefined;
    default:
      return to.double(field.value);
  }
}

function readField(from: ByteSource): Field {
  const type = String.fromCharCode(from.octet()) as Field['type'];
  switch (type) {
    case 't':
      return { type, value: from.octet() !== 0 };
    case 'S':
      return { type, value: from.text() };
    case 'l':
    case 'T':
      return { type, value: readLong(from) };
    case 'D':
      return { type, value: { scale: from.octet(), value: from.double() } };
    case 'x':
      return { type, value: from.octets() };
    case 'A': {
      const items: Field[] = [];
      for (let left = from.varint(); left > 0; left--) items.push(readField(from));
      return { type, value: items };
    }
    case 'F':
      return { type, value: readTable(from) };
    case 'V':
      return { type, value: undefined };
    default:
      return { type, value: from.double() };
  }
}

/** A number is read as a number, a bigint as a bigint. Unsigned values may be beyond int64. */
export function writeLong(to: ByteSink, value: number | bigint): void {
  if (typeof value === 'number') {
    to.octet(0);
    return to.double(value);
  }
  const isUnsigned = value > 0x7fff_ffff_ffff_ffffn;
  to.octet(isUnsigned ? 2 : 1);
  to.int64(BigInt.asIntN(64, value));
}

export function readLong(from: ByteSource): number | bigint {
  const kind = from.octet();
  if (kind === 0) return from.double();
  return kind === 1 ? from.int64() : BigInt.asUintN(64, from.int64());
}

export function writeTexts(to: ByteSink, list: readonly string[]): void {
  to.varint(list.length);
  for (const text of list) to.text(text);
}

export const readTexts = (from: ByteSource): string[] => Array.from({ length: from.varint() }, () => from.text());
