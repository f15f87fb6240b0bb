import type { Field, FieldTable, FieldType } from '../../../libs/dlx-broker/src/engine/message/index.js';
import { Reader, Writer } from './bytes.js';

/** A field table with its length in front; every wire type keeps its letter (rule T8). */
export function writeTable(table: FieldTable, to: Writer): void {
  const body = new Writer();
  for (const [name, field] of table) {
    body.shortstr(name);
    writeField(field, body);
  }
  to.longstr(body.end());
}

export function readTable(from: Reader): FieldTable {
  const body = new Reader(from.longstr());
  const table = new Map<string, Field>();
  while (!body.done) table.set(body.shortstr(), readField(body));
  return table;
}

function writeField(field: Field, to: Writer): void {
  to.octet(field.type.charCodeAt(0));
  switch (field.type) {
    case 't':
      return void to.octet(field.value ? 1 : 0);
    case 'b':
      return void to.int8(field.value);
    case 'B':
      return void to.octet(field.value);
    case 's':
      return void to.int16(field.value);
    case 'u':
      return void to.short(field.value);
    case 'I':
      return void to.int32(field.value);
    case 'i':
      return void to.long(field.value);
    case 'l':
    case 'T':
      return void to.int64(field.value);
    case 'f':
      return void to.float(field.value);
    case 'd':
      return void to.double(field.value);
    case 'D':
      return void to.octet(field.value.scale).long(field.value.value);
    case 'S':
    case 'x':
      return void to.longstr(field.value);
    case 'A': {
      const items = new Writer();
      for (const item of field.value) writeField(item, items);
      return void to.longstr(items.end());
    }
    case 'F':
      return writeTable(field.value, to);
    case 'V':
      return;
  }
}

function readField(from: Reader): Field {
  const type = String.fromCharCode(from.octet()) as FieldType;
  switch (type) {
    case 't':
      return { type, value: from.octet() !== 0 };
    case 'b':
      return { type, value: from.int8() };
    case 'B':
      return { type, value: from.octet() };
    case 's':
      return { type, value: from.int16() };
    case 'u':
      return { type, value: from.short() };
    case 'I':
      return { type, value: from.int32() };
    case 'i':
      return { type, value: from.long() };
    case 'l':
    case 'T':
      return { type, value: from.int64() };
    case 'f':
      return { type, value: from.float() };
    case 'd':
      return { type, value: from.double() };
    case 'D':
      return { type, value: { scale: from.octet(), value: from.long() } };
    case 'S':
      return { type, value: from.longstr().toString() };
    case 'x':
      return { type, value: new Uint8Array(from.longstr()) };
    case 'A': {
      const items = new Reader(from.longstr());
      const value: Field[] = [];
      while (!items.done) value.push(readField(items));
      return { type, value };
    }
    case 'F':
      return { type, value: readTable(from) };
    case 'V':
      return { type, value: undefined };
    default:
      throw new Error(`field type ${JSON.stringify(type)} is unknown`);
  }
}
