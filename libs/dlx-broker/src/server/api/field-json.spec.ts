import { describe, expect, it } from 'vitest';
import type { Field } from '../../engine/message/index.js';
import { FieldJsonError } from '../http/reply.js';
import { tableOfJson, tableToJson } from './field-json.js';

describe('rule U1: JSON becomes a field table', () => {
  it.each([
    ['1', { type: 'l', value: 1 }],
    ['-9007199254740993', { type: 'l', value: -9007199254740992n }],
    ['1e18', { type: 'l', value: 10n ** 18n }],
    ['1e19', { type: 'd', value: 1e19 }],
    ['1.5', { type: 'd', value: 1.5 }],
    ['-0', { type: 'd', value: -0 }],
    ['true', { type: 't', value: true }],
    ['"ü"', { type: 'S', value: 'ü' }],
    [
      '[1,"a"]',
      {
        type: 'A',
        value: [
          { type: 'l', value: 1 },
          { type: 'S', value: 'a' },
        ],
      },
    ],
    ['{"b":false}', { type: 'F', value: new Map([['b', { type: 't', value: false }]]) }],
  ])('%s', (json, field) => {
    expect(tableOfJson(JSON.parse(`{"a":${json}}`) as object)).toEqual(new Map([['a', field]]));
  });

  it('names of methods and prototypes are names', () => {
    const table = tableOfJson(JSON.parse('{"__proto__":{"x":1},"constructor":2}') as object);
    expect([...table.keys()]).toEqual(['__proto__', 'constructor']);
    expect(JSON.stringify(tableToJson(table))).toBe('{"__proto__":{"x":1},"constructor":2}');
  });

  it('a table has a bound, for it is converted in one turn', () => {
    const values = (count: number): object => ({ a: Array.from({ length: count - 1 }, () => true) });
    expect(tableOfJson(values(131_072)).size).toBe(1);
    expect(() => tableOfJson(values(131_073))).toThrow(/more than 131072 values/);
    expect(() => tableOfJson({ a: values(70_000), b: values(70_000) })).toThrow(/more than 131072 values/);
  });

  it('null and what is nested without end have no place in it', () => {
    expect(() => tableOfJson({ a: [null] })).toThrow(new FieldJsonError('null_not_allowed'));
    const deep = `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`;
    expect(() => tableOfJson(JSON.parse(deep) as object)).toThrow('nested more than 64 levels deep');
  });
});

describe('a field table becomes JSON', () => {
  it.each<[Field, unknown]>([
    [{ type: 'T', value: 1_700_000_000 }, 1_700_000_000],
    [{ type: 'D', value: { scale: 2, value: 314 } }, 3.14],
    [{ type: 'l', value: 2n ** 60n }, 2 ** 60],
    [{ type: 'x', value: Buffer.from('text') }, 'text'],
    [{ type: 'x', value: Buffer.from([0xff, 0xfe]) }, 'Not UTF-8, base64 is: //4='],
    [{ type: 'V', value: undefined }, 'undefined'],
  ])('%o', (field, json) => {
    expect(tableToJson(new Map([['a', field]]))['a']).toEqual(json);
  });
});
