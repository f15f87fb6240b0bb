import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter } from './codec/bytes.js';
import { readTable, writeTable } from './codec/table-codec.js';
import { array, bool, type Field, type FieldTable, int32, int64, longstr, table, timestamp } from './field-table.js';
import { compact, PackedTable, sorted } from './packed-table.js';

const empty: Field = { type: 'V', value: undefined };

function bytesOf(headers: FieldTable): Buffer {
  const writer = new ByteWriter(Buffer.allocUnsafe(64));
  writeTable(writer, headers);
  return writer.written;
}

const pack = (headers: FieldTable): PackedTable => PackedTable.take(new ByteReader(bytesOf(headers))) as PackedTable;

const everything: FieldTable = new Map<string, Field>([
  ['t', bool(true)],
  ['b', { type: 'b', value: -128 }],
  ['B', { type: 'B', value: 255 }],
  ['s', { type: 's', value: -32_768 }],
  ['u', { type: 'u', value: 65_535 }],
  ['I', int32(-1)],
  ['i', { type: 'i', value: 4_294_967_295 }],
  ['l', int64(-9_007_199_254_740_993n)],
  ['f', { type: 'f', value: 0.5 }],
  ['d', { type: 'd', value: 0.1 }],
  ['T', timestamp(1_767_225_600)],
  ['D', { type: 'D', value: { scale: 2, value: 314 } }],
  ['S', longstr('grüße')],
  ['x', { type: 'x', value: Buffer.of(1, 2, 3) }],
  ['A', array([int32(1), table(new Map([['in', longstr('deep')]])), empty])],
  ['F', table(new Map([['A', array([bool(false)])]]))],
  ['V', empty],
  ['', longstr('no name')],
  ['ключ', int32(7)],
  ['__proto__', int32(8)],
]);

describe('a packed table', () => {
  it('is walked through as the table it was', () => {
    const packed = pack(everything);
    expect([...packed]).toEqual([...everything]);
    expect(packed.size).toBe(everything.size);
  });

  it.each([...everything])('gives back the field %j alone', (name, field) => {
    expect(pack(everything).get(name)).toEqual(field);
    expect(pack(everything).has(name)).toBe(true);
  });

  it.each(['', 'x', 'ab', 'ключ', 'A', 'in'])('knows what is not there: %j', (name) => {
    const packed = pack(new Map([['other', everything.get('A') as Field]]));
    expect(packed.get(name)).toBeUndefined();
    expect(packed.has(name)).toBe(false);
  });

  it('of two fields of one name has the last', () => {
    const [one, two] = [bytesOf(new Map([['k', int32(1)]])), bytesOf(new Map([['k', int32(2)]]))];
    const both = Buffer.concat([Buffer.alloc(4), one.subarray(4), two.subarray(4)]);
    both.writeUInt32BE(both.length - 4);
    const packed = PackedTable.take(new ByteReader(both));
    expect(packed.get('k')).toEqual(int32(2));
    expect(packed.size).toBe(1);
  });

  it('is sorted by the bytes of its names, of two fields of one name the last (rule H12)', () => {
    const fields = (text: string): Buffer =>
      Buffer.concat(
        [...text].map((name, place) => {
          const bytes = Buffer.from(name);
          return Buffer.concat([Buffer.of(bytes.length), bytes, Buffer.of(0x62, place)]);
        }),
      );
    const table = PackedTable.ofFields(fields('b\u{1f600}aüba'));
    const [ordered, again] = [sorted(table), sorted(sorted(table))];
    expect([...ordered].map(([name, { value }]) => [name, value])).toEqual([
      ['a', 5],
      ['b', 4],
      ['ü', 3],
      ['\u{1f600}', 1],
    ]);
    expect([ordered.get('b'), ordered.has('c'), again.size]).toEqual([{ type: 'b', value: 4 }, false, 4]);
  });

  it('is refused where it would be refused unpacked, with the same error', () => {
    const good = bytesOf(everything);
    for (let at = 0; at < good.length; at++) {
      for (const value of [0, 1, 0x41, 0x46, 0x7f, 0xff]) {
        const bytes = Buffer.from(good);
        bytes[at] = value;
        const outcome = (read: (from: ByteReader) => FieldTable): unknown => {
          const from = new ByteReader(Buffer.from(bytes));
          try {
            return [[...read(from)], from.at, from.end];
          } catch (error) {
            return `${(error as Error).name}: ${(error as Error).message}`;
          }
        };
        expect(outcome((from) => PackedTable.take(from))).toEqual(outcome((from) => readTable(from)));
      }
    }
  });

  it('nested 65 levels deep is refused', () => {
    let deep: Field = empty;
    for (let level = 0; level < 65; level++) deep = array([deep]);
    expect(() => pack(new Map([['deep', deep]]))).toThrow('too deep');
  });
});

describe('compact', () => {
  const many = (value: Field): FieldTable => new Map([['many', array(Array.from({ length: 100 }, () => value))]]);

  it('packs large tables, and leaves small ones as they are', () => {
    expect(compact(everything)).toBe(everything);
    const large = many(int32(1));
    expect(compact(large)).toBeInstanceOf(PackedTable);
    expect([...compact(large)]).toEqual([...large]);
    expect(compact(compact(large))).toBeInstanceOf(PackedTable);
  });

  it.each<[string, Field]>([
    ['a number too large for its type', int32(2 ** 40)],
    ['a fraction that is no float', { type: 'f', value: 0.1 }],
    ['a text with half a character', longstr('\ud800')],
    ['a small number as a bigint', int64(1n)],
  ])('leaves as it is what the wire would change: %s', (_, field) => {
    const large = many(field);
    expect(compact(large)).toBe(large);
  });
});
