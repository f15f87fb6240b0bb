import { describe, expect, it } from 'vitest';
import { Rows, writtenJson } from './json.js';

/** Work done to its end, and in how many pieces. */
function whole<T>(work: Iterator<void, T, void>): { readonly value: T; readonly pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = work.next();
    if (done === true) return { value, pauses };
  }
}

const written = (value: unknown, limit = Infinity): string =>
  Buffer.concat(whole(writtenJson(value, limit)).value.pieces).toString();

const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: [nested(depth - 1)], b: undefined });

describe('a reply is written as JSON.stringify writes it:', () => {
  const many = Array.from({ length: 3_000 }, (_, n) => ({ n, text: `"${n}"`, gone: undefined, none: null }));
  it.each([
    ['nothing', null],
    ['a number', 1.5],
    ['not a number', NaN],
    ['an empty list', []],
    ['an empty object', {}],
    ['a long list', many],
    ['a long list of nothing', Array.from({ length: 2_000 })],
    ['an object with a long list', { first: many, gone: undefined, last: { list: many } }],
    ['an object of many', Object.fromEntries(many.map((each) => [`k${each.n}`, each]))],
    ['a deep one', nested(40)],
    ['a long text', { text: `"\\${'\u{1f600}\n'.repeat(100_000)}` }],
    ['half of a pair', `${'x'.repeat(65_535)}\ud83d and \ude00`],
    ['one with its own words', { time: new Date(0), list: many.map(() => new Date(0)) }],
  ])('%s', (_, value) => {
    expect(written(value)).toBe(JSON.stringify(value));
  });

  it('rows, which are made one by one', () => {
    const rows = (): Rows<number> => new Rows([1, 2, 3], (n) => ({ n }));
    expect(written({ items: rows(), more: [rows()] })).toBe(JSON.stringify({ items: rows(), more: [rows()] }));
    expect(written(new Rows([], String))).toBe('[]');
  });
});

describe('a long reply', () => {
  it('may pause after each row, and within a long text', () => {
    expect(whole(writtenJson(new Rows(Array.from({ length: 10_000 }), () => ({})), Infinity)).pauses).toBe(10_000);
    expect(whole(writtenJson('x'.repeat(16_000_000), Infinity)).pauses).toBeGreaterThan(200);
  });

  it('makes no row before its turn', () => {
    const made: number[] = [];
    const work = writtenJson(new Rows([1, 2, 3], (n) => made.push(n)), Infinity);
    work.next();
    expect(made).toEqual([1]);
  });

  it('is refused when it would be too long, with the ways to ask for less', () => {
    const rows = new Rows(Array.from({ length: 1_000 }), () => 'x'.repeat(1_000));
    expect(() => written(rows, 500_000)).toThrow(/over 500000 bytes.*page_size.*columns.*truncate/);
  });
});
