import { describe, expect, it } from 'vitest';
import type { Field, FieldTable } from '../field-table.js';
import { isLargerThan, PackedTable, tableSize } from '../packed-table.js';
import { toFieldTable } from '../plain.js';
import { ByteWriter } from './bytes.js';
import { writeTable } from './table-codec.js';

function written(table: FieldTable): number {
  const writer = new ByteWriter(Buffer.alloc(64));
  writeTable(writer, table);
  return writer.written.length;
}

describe('the size of a field table', () => {
  const all: FieldTable = new Map<string, Field>([
    ...toFieldTable({ text: 'Grüße', many: [1, 'two', { three: [true, undefined] }], bytes: Buffer.from('abc') }),
    ['b', { type: 'b', value: 1 }],
    ['B', { type: 'B', value: 1 }],
    ['s', { type: 's', value: 1 }],
    ['u', { type: 'u', value: 1 }],
    ['I', { type: 'I', value: 1 }],
    ['i', { type: 'i', value: 1 }],
    ['l', { type: 'l', value: 1 }],
    ['T', { type: 'T', value: 1 }],
    ['f', { type: 'f', value: 1 }],
    ['d', { type: 'd', value: 1 }],
    ['D', { type: 'D', value: { scale: 1, value: 2 } }],
    ['V', { type: 'V', value: undefined }],
    ['ä', { type: 'S', value: '\udc80 a byte that is no UTF-8' }],
  ]);

  it('is that of its bytes on the wire, for every type (rule T8)', () => {
    expect(tableSize(all)).toBe(written(all));
    expect(tableSize(new Map())).toBe(4);
  });

  it('is the same when the table is kept as bytes', () => {
    const table = toFieldTable({ a: 'one', b: [1, 2, { c: 'x' }] });
    const packed = PackedTable.of(table);
    expect(packed).toBeInstanceOf(PackedTable);
    expect(tableSize(packed)).toBe(tableSize(table));
  });

  it('is compared with a limit to the byte, whatever the characters', () => {
    for (const text of ['a', 'ü', '한', '🎉', '\udc80'].map((one) => one.repeat(50))) {
      const table = toFieldTable({ text });
      const size = tableSize(table);
      expect([isLargerThan(table, size - 1), isLargerThan(table, size)], text).toEqual([true, false]);
    }
  });
});
