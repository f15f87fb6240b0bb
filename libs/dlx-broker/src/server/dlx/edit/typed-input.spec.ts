import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { array, type Field, type FieldTable, longstr, table } from '../../../engine/message/index.js';
import { typedTable } from '../typed-field.js';
import { headersOfTyped } from './typed-input.js';

const roundTrip = (headers: FieldTable): FieldTable => headersOfTyped(JSON.parse(JSON.stringify(typedTable(headers))));

const int = (type: 'b' | 'B' | 's' | 'u' | 'I' | 'i', min: number, max: number) =>
  fc.integer({ min, max }).map((value): Field => ({ type, value }));

const { field } = fc.letrec<{ field: Field }>((tie) => ({
  field: fc.oneof(
    { depthSize: 'small' },
    int('b', -128, 127),
    int('B', 0, 255),
    int('s', -32_768, 32_767),
    int('u', 0, 65_535),
    int('I', -(2 ** 31), 2 ** 31 - 1),
    int('i', 0, 2 ** 32 - 1),
    fc.boolean().map((value): Field => ({ type: 't', value })),
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map((value): Field => ({ type: 'l', value: plain(value) })),
    fc.bigInt(0n, 2n ** 63n - 1n).map((value): Field => ({ type: 'T', value: plain(value) })),
    fc.float().map((value): Field => ({ type: 'f', value: value + 0 })),
    fc.double().map((value): Field => ({ type: 'd', value: value + 0 })),
    fc.string({ unit: 'binary' }).map(longstr),
    fc.uint8Array().map((value): Field => ({ type: 'x', value: Buffer.from(value) })),
    fc.record({ scale: fc.nat(255), value: fc.nat(2 ** 31) }).map((value): Field => ({ type: 'D', value })),
    fc.constant<Field>({ type: 'V', value: undefined }),
    fc.array(tie('field'), { maxLength: 4 }).map(array),
    fc
      .array(fc.tuple(fc.string({ maxLength: 20 }), tie('field')), { maxLength: 4 })
      .map((each) => table(new Map(each))),
  ),
}));

const plain = (value: bigint): number | bigint => (Number.isSafeInteger(Number(value)) ? Number(value) : value);

describe('headers of an edit', () => {
  it('are those that a message shows, type by type', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ maxLength: 20 }), field), { maxLength: 6 }), (entries) => {
        const headers = new Map(entries);
        expect(roundTrip(headers)).toEqual(headers);
      }),
      { numRuns: 300 },
    );
  });

  it('may have any name, and texts with bytes that are no UTF-8', () => {
    const names = ['__proto__', 'constructor', 'hasOwnProperty', '', 'ü €', 'x-death', '\udcff'];
    const headers = new Map(names.map((name) => [name, table(new Map([['__proto__', longstr('\udc80')]]))]));
    expect(roundTrip(headers)).toEqual(headers);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });

  it.each<[string, unknown, string]>([
    ['no object', [], "'headers' should be an object"],
    ['null', null, "'headers' should be an object"],
    ['a value without its type', { a: 'text' }, "'headers.a' should be an object"],
    ['null for a header', { a: null }, "'headers.a' should be an object"],
    ['an unknown type', { a: { type: 'int', value: 1 } }, "'headers.a.type' should be one of byte, "],
    ['a type of every object', { a: { type: 'constructor', value: 1 } }, "'headers.a.type' should be one of"],
    ['a type that is no text', { a: { type: ['longstr'], value: 'x' } }, "'headers.a.type' should be one of"],
    ['a cut value', { a: { type: 'longstr', value: 'x', length: 9 } }, "'headers.a' was cut on a page of messages"],
    ['an unknown key', { a: { type: 'longstr', value: 'x', kind: 1 } }, "unknown key of 'headers.a' 'kind'"],
    ['a byte too large', { a: { type: 'byte', value: 128 } }, "'headers.a' should be a whole number from -128 to 127"],
    ['a fraction', { a: { type: 'signedint', value: 1.5 } }, "'headers.a' should be a whole number from -2147483648"],
    ['digits for 32 bits', { a: { type: 'signedint', value: '1' } }, "'headers.a' should be a whole number"],
    ['a long beyond 64 bits', { a: { type: 'long', value: '9223372036854775808' } }, "'headers.a' should be a whole"],
    ['a long that JSON rounded', { a: { type: 'long', value: 2 ** 53 } }, 'or its digits as a string'],
    ['a time before 1970', { a: { type: 'timestamp', value: -1 } }, "'headers.a' should be a whole number from 0"],
    ['a float beyond 32 bits', { a: { type: 'float', value: 1e39 } }, 'a number that fits into 32 bits'],
    ['a double in words', { a: { type: 'double', value: 'one' } }, "'headers.a' should be a number, or 'NaN'"],
    ['a string for a boolean', { a: { type: 'bool', value: 'true' } }, "'headers.a' should be true or false"],
    ['a number for a string', { a: { type: 'longstr', value: 1 } }, "'headers.a' should be a string"],
    ['half of a pair', { a: { type: 'longstr', value: '\ud800' } }, "'headers.a' has half of a surrogate pair"],
    ['no base64', { a: { type: 'binary', value: 'a?' } }, "'headers.a' should be a string of base64"],
    ['a decimal in text', { a: { type: 'decimal', value: '1.5' } }, "'headers.a' should be an object"],
    ['a scale too large', { a: { type: 'decimal', value: { scale: 256, value: 1 } } }, "'headers.a.scale' should be"],
    ['a void with a value', { a: { type: 'void', value: 0 } }, "'headers.a' should be null"],
    ['an array of plain values', { a: { type: 'array', value: [1] } }, "'headers.a[0]' should be an object"],
    ['an object for an array', { a: { type: 'array', value: {} } }, "'headers.a' should be an array"],
    [
      'a bad value inside',
      { a: { type: 'table', value: { b: { type: 'byte', value: 999 } } } },
      "'headers.a.b' should",
    ],
    [
      'a long name',
      { ['n'.repeat(256)]: { type: 'void', value: null } },
      "a name in 'headers' is longer than 255 bytes",
    ],
  ])('are refused: %s', (_, headers, reason) => {
    expect(() => headersOfTyped(headers)).toThrow(reason);
  });

  it('have limits of bytes, of values and of depth', () => {
    const many = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`header-${index}`, { type: 'longstr', value: 'x' }]),
      );
    expect(headersOfTyped(many(5_000)).size).toBe(5_000);
    expect(() => headersOfTyped(many(10_000))).toThrow(/'headers' take 1\d{5} bytes, more than 131072/);
    const values = Array.from({ length: 32_768 }, () => ({ type: 'void', value: null }));
    expect(() => headersOfTyped({ a: { type: 'array', value: values } })).toThrow('more than 32768 values');
    let deep: unknown = { type: 'void', value: null };
    for (let level = 0; level < 70; level++) deep = { type: 'array', value: [deep] };
    expect(() => headersOfTyped({ a: deep })).toThrow('is nested more than 64 levels deep');
  });
});
