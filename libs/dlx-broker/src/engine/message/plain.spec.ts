import { describe, expect, it } from 'vitest';
import type { Field } from './field-table.js';
import { fromFieldTable, toFieldTable } from './plain.js';

describe('a plain object as a field table (rule T8)', () => {
  it.each<[string, unknown, Field]>([
    ['text', 'a', { type: 'S', value: 'a' }],
    ['a bool', true, { type: 't', value: true }],
    ['a small integer', -2_147_483_648, { type: 'I', value: -2_147_483_648 }],
    ['a large integer', 2_147_483_648, { type: 'l', value: 2_147_483_648 }],
    ['a fraction', 0.5, { type: 'd', value: 0.5 }],
    ['minus zero', -0, { type: 'd', value: -0 }],
    ['an unsafe integer', 2 ** 60, { type: 'd', value: 2 ** 60 }],
    ['a small bigint', 5n, { type: 'l', value: 5 }],
    ['a large bigint', 2n ** 62n, { type: 'l', value: 2n ** 62n }],
    ['a date', new Date(1_700_000_000_999), { type: 'T', value: 1_700_000_000 }],
    ['null', null, { type: 'V', value: undefined }],
    ['undefined', undefined, { type: 'V', value: undefined }],
    ['bytes', new Uint8Array([1]), { type: 'x', value: new Uint8Array([1]) }],
    [
      'an array',
      [1, 'a'],
      {
        type: 'A',
        value: [
          { type: 'I', value: 1 },
          { type: 'S', value: 'a' },
        ],
      },
    ],
    ['an object', { a: 1 }, { type: 'F', value: new Map([['a', { type: 'I', value: 1 } as Field]]) }],
    ['a Map', new Map([['a', 1]]), { type: 'F', value: new Map([['a', { type: 'I', value: 1 } as Field]]) }],
    [
      'an object with a getTime',
      { getTime: 1 },
      { type: 'F', value: new Map([['getTime', { type: 'I', value: 1 } as Field]]) },
    ],
  ])('takes %s', (_, value, field) => expect(toFieldTable({ h: value }).get('h')).toEqual(field));

  it.each<[string, unknown, string]>([
    ['NaN', { a: { b: [Number.NaN] } }, "header 'a.b[0]' is NaN, which cannot be sent"],
    ['a function', { f: () => 1 }, "header 'f' is a function, which cannot be sent"],
    ['a symbol', { s: Symbol('x') }, "header 's' is a symbol, which cannot be sent"],
    ['an invalid date', { d: new Date(Number.NaN) }, "header 'd' is no valid date"],
    ['a class', { c: new (class Order {})() }, "header 'c' is an instance of Order, which cannot be sent"],
    ['a bigint of 65 bits', { n: 2n ** 63n }, "header 'n' is beyond 64 bits"],
  ])('refuses %s, and says where', (_, plain, text) => {
    expect(() => toFieldTable(plain as Record<string, unknown>)).toThrow(TypeError);
    expect(() => toFieldTable(plain as Record<string, unknown>)).toThrow(text);
  });

  it('refuses deep nesting and cycles', () => {
    const ring: Record<string, unknown> = {};
    ring['again'] = ring;
    expect(() => toFieldTable(ring)).toThrow('is nested more than 64 levels deep');
    let deep: unknown = 1;
    for (let level = 0; level < 63; level++) deep = [deep];
    expect(() => toFieldTable({ deep })).not.toThrow();
  });
});

describe('encoded and decoded again', () => {
  it('is the same, dangerous names included', () => {
    const plain = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":"c","a":[1,"b",{"toString":2.5}],"n":null}',
    ) as Record<string, unknown>;
    const back = fromFieldTable(toFieldTable(plain));
    expect(Object.getPrototypeOf(back)).toBeNull();
    expect(Object.keys(back)).toEqual(['__proto__', 'constructor', 'a', 'n']);
    expect(back['__proto__']).toEqual({ polluted: true });
    expect(back['constructor']).toBe('c');
    expect(back['a']).toEqual([1, 'b', { toString: 2.5 }]);
    expect(back['n']).toBeUndefined();
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('copies bytes on both ways: a handler that changes its headers changes those of no other message', () => {
    const sent = Buffer.from([1, 2]);
    const table = toFieldTable({ x: sent, a: [sent] });
    sent[0] = 9;
    const seen = fromFieldTable(table) as { readonly x: Buffer; readonly a: readonly Buffer[] };
    expect({ ...seen }).toEqual({ x: Buffer.from([1, 2]), a: [Buffer.from([1, 2])] });
    seen.x[0] = 9;
    seen.a[0]![0] = 9;
    expect({ ...fromFieldTable(table) }).toEqual({ x: Buffer.from([1, 2]), a: [Buffer.from([1, 2])] });
  });

  it('turns timestamps into seconds, decimals into numbers, and int64 into bigints only where needed', () => {
    const table = new Map<string, Field>([
      ['T', { type: 'T', value: 1_700_000_000 }],
      ['D', { type: 'D', value: { scale: 2, value: 1550 } }],
      ['l', { type: 'l', value: 7n }],
      ['L', { type: 'l', value: 2n ** 62n }],
    ]);
    expect({ ...fromFieldTable(table) }).toEqual({ T: 1_700_000_000, D: 15.5, l: 7, L: 2n ** 62n });
  });
});
