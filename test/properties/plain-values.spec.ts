import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { tableOfJson } from '../../libs/dlx-broker/src/server/api/field-json.js';
import { type Field, type FieldTable, toFieldTable } from '../../libs/dlx-broker/src/engine/message/index.js';
import { DlxRecordBuilder } from '../../libs/dlx-broker/src/nest/index.js';
import { readSettings } from '../../libs/dlx-broker/src/nest/core/handler-settings.js';
import { binding, queue, readTopology } from '../../libs/dlx-broker/src/backends/topology/index.js';

type Plain = Readonly<Record<string, unknown>>;
type Road = (plain: Plain) => FieldTable;

const settings = (decorator: string, given: Plain) => readSettings([{ decorator, settings: given }], 'Orders.handle');

/** Every way by which an application writes headers or arguments as plain values. */
const roads: Readonly<Record<string, Road>> = {
  'the headers of a record': (plain) => new DlxRecordBuilder(1).setHeaders(plain).build().properties.headers!,
  'the arguments of @QueueArguments': (plain) => settings('QueueArguments', { arguments: plain }).queueArguments,
  'the headers of @Bind': (plain) =>
    settings('Bind', { exchange: 'x', routingKey: '', arguments: plain }).bindings[0]!.arguments,
  'the arguments of a queue in option topology': (plain) =>
    readTopology({ queues: [queue('q', { arguments: plain })] }, 'a test').parts[0]!.queues![0]!.arguments,
  'the headers of a binding in option topology': (plain) =>
    readTopology({ bindings: [binding('x', 'q', '', plain)] }, 'a test').parts[0]!.bindings![0]!.arguments,
  'toFieldTable of the engine': toFieldTable,
};

const foreign = <T>(source: string): T => runInNewContext(source) as T;
const int = (value: number): Field => ({ type: 'I', value });
const kept: readonly (readonly [string, unknown, Field])[] = [
  ['a text', 'x', { type: 'S', value: 'x' }],
  ['true', true, { type: 't', value: true }],
  ['the largest int32', 0x7fff_ffff, int(0x7fff_ffff)],
  ['the smallest int32', -0x8000_0000, int(-0x8000_0000)],
  ['one more', 0x8000_0000, { type: 'l', value: 0x8000_0000 }],
  ['the largest safe integer', Number.MAX_SAFE_INTEGER, { type: 'l', value: Number.MAX_SAFE_INTEGER }],
  ['a whole number beyond', 2 ** 60, { type: 'd', value: 2 ** 60 }],
  ['a fraction', 1.5, { type: 'd', value: 1.5 }],
  ['minus zero, which has no integer', -0, { type: 'd', value: -0 }],
  ['a small bigint', 7n, { type: 'l', value: 7 }],
  ['a large bigint', 2n ** 62n, { type: 'l', value: 2n ** 62n }],
  ['the smallest bigint', -(2n ** 63n), { type: 'l', value: -(2n ** 63n) }],
  ['null', null, { type: 'V', value: undefined }],
  ['a date', new Date(1500), { type: 'T', value: 1 }],
  ['a date of another realm', foreign('new Date(1500)'), { type: 'T', value: 1 }],
  ['bytes', new Uint8Array([1]), { type: 'x', value: new Uint8Array([1]) }],
  ['an array', [1, 'x'], { type: 'A', value: [int(1), { type: 'S', value: 'x' }] }],
  ['an array with undefined', [undefined], { type: 'A', value: [{ type: 'V', value: undefined }] }],
  [
    'an array with a hole',
    Object.assign(new Array(2), { 1: 1 }),
    { type: 'A', value: [{ type: 'V', value: undefined }, int(1)] },
  ],
  ['an array of another realm', foreign('[1]'), { type: 'A', value: [int(1)] }],
  ['an object', { a: 1 }, { type: 'F', value: new Map([['a', int(1)]]) }],
  [
    'an object without a prototype',
    Object.assign(Object.create(null), { a: 1 }),
    { type: 'F', value: new Map([['a', int(1)]]) },
  ],
  ['an object of another realm', foreign('({ a: 1 })'), { type: 'F', value: new Map([['a', int(1)]]) }],
  ['a Map', new Map([['a', 1]]), { type: 'F', value: new Map([['a', int(1)]]) }],
  ['an object with a getTime', { getTime: 1 }, { type: 'F', value: new Map([['getTime', int(1)]]) }],
];

const ring: Record<string, unknown> = {};
ring['again'] = ring;

const refused: readonly (readonly [string, unknown, string])[] = [
  ['NaN', Number.NaN, "'h' is NaN, which cannot be sent"],
  ['infinity', [Number.POSITIVE_INFINITY], "'h[0]' is Infinity, which cannot be sent"],
  ['a bigint of 65 bits', { n: 2n ** 63n }, "'h.n' is beyond 64 bits"],
  ['an invalid date', new Date(Number.NaN), "'h' is no valid date"],
  ['a function', { f: () => 1 }, "'h.f' is a function, which cannot be sent"],
  ['a symbol', Symbol('s'), "'h' is a symbol, which cannot be sent"],
  ['an instance of a class', new (class Money {})(), "'h' is an instance of Money, which cannot be sent"],
  [
    'a class with a getTime',
    new (class Moment {
      getTime = () => 'now';
    })(),
    "'h' is an instance of Moment",
  ],
  ['a Set', new Set([1]), "'h' is an instance of Set, which cannot be sent"],
  ['a Map with names that are no texts', new Map([[1, 'x']]), "'h' has a name that is no text"],
  ['a name of more than 255 bytes', { ['é'.repeat(128)]: 1 }, 'has a name of more than 255 bytes'],
  ['a ring', ring, 'is nested more than 64 levels deep'],
];

describe.each(Object.entries(roads))('%s', (name, road) => {
  it.each(kept)('keeps %s', (_, value, field) => expect(road({ h: value }).get('h')).toEqual(field));

  it.each(refused)('refuses %s, and names the value', (_, value, text) => {
    expect(() => road({ h: value })).toThrow(text);
  });

  it('refuses a name of more than 255 bytes', () => {
    expect(() => road({ ['n'.repeat(256)]: 1 })).toThrow('has a name of more than 255 bytes');
  });

  it('leaves entries without a value out, except for the engine, whose tables come back as they were', () => {
    const isEngine = name.endsWith('engine');
    const table = road({ none: undefined, nested: { none: undefined }, one: 1 });
    expect(table.has('none')).toBe(isEngine);
    expect((table.get('nested') as { value: FieldTable }).value.has('none')).toBe(isEngine);
    expect(table.get('one')).toEqual(int(1));
  });
});

/** JSON has fewer values, and RabbitMQ its own rule for them (rule U1). */
describe('the HTTP API', () => {
  it.each<[string, Field]>([
    ['1', { type: 'l', value: 1 }],
    ['-0', { type: 'd', value: -0 }],
    ['1.5', { type: 'd', value: 1.5 }],
    ['"x"', { type: 'S', value: 'x' }],
    ['true', { type: 't', value: true }],
    ['[1]', { type: 'A', value: [{ type: 'l', value: 1 }] }],
    ['{"a":1}', { type: 'F', value: new Map([['a', { type: 'l', value: 1 }]]) }],
  ])('takes %s', (json, field) => {
    expect(tableOfJson(JSON.parse(`{"h":${json}}`) as object).get('h')).toEqual(field);
  });

  it('refuses null', () => expect(() => tableOfJson({ h: null })).toThrow('null_not_allowed'));
});
