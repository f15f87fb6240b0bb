import { describe, expect, it } from 'vitest';
import { jsonPieces, JsonText, Rows } from './json.js';

const written = (value: unknown): string => [...jsonPieces(value)].join('');

describe('a reply is written as JSON.stringify writes it:', () => {
  it.each([
    ['nothing', null],
    ['a number', 1.5],
    ['an empty list', []],
    ['an empty object', {}],
    ['a list', [{ n: 1, gone: undefined, none: null }]],
    ['a text', { text: '"\\\u{1f600}\n' }],
    ['one with its own words', { time: new Date(0) }],
  ])('%s', (_, value) => {
    expect(written(value)).toBe(JSON.stringify(value));
  });

  it('rows, wherever they are', () => {
    const rows = (): Rows<number> => new Rows([1, 2, 3], (n) => ({ n }));
    const value = () => ({ gone: undefined, items: rows(), deep: { of: rows() }, more: [rows()] });
    expect(written(value())).toBe(JSON.stringify(value()));
    expect(written(new Rows([], String))).toBe('[]');
    expect(written({ items: new JsonText('[1]') })).toBe('{"items":[1]}');
  });

  it('a row is made when it is written', () => {
    const made: number[] = [];
    const work = jsonPieces(new Rows([1, 2, 3], (n) => made.push(n)));
    work.next();
    expect(made).toEqual([1]);
  });
});
