import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsedJson } from './json-parse.js';

function whole<T>(work: Iterator<void, T, void>): { readonly value: T; readonly pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = work.next();
    if (done === true) return { value, pauses };
  }
}

const parsed = (text: string): unknown => whole(parsedJson(text)).value;
const long = 'x'.repeat(70_000);

describe('JSON is parsed in turns as JSON.parse does it:', () => {
  it('whatever it holds', () => {
    fc.assert(
      fc.property(fc.array(fc.json(), { minLength: 1 }), fc.nat({ max: 3 }), (all, spaces) => {
        const text = ` ${JSON.stringify({ long, all: all.map((each) => JSON.parse(each)) }, null, spaces)}\n`;
        expect(parsed(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    `["${long}",]`,
    `[,"${long}"]`,
    `["${long}" 1]`,
    `["${long}"`,
    `["${long}"]]`,
    `[["${long}"]`,
    `["${long}"}`,
    `{"a":"${long}",}`,
    `{"a" "${long}"}`,
    `{a:"${long}"}`,
    `{"a":"${long}"}]`,
    `{"a":"${long}`,
    `{"a":"${long}\\"}`,
    `\u00a0["${long}"]`,
    `["${long}"] 1`,
    `{:"${long}"}`,
    `{1:"${long}"}`,
    long,
  ])('what is none is none (%#)', (text) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(() => parsed(text)).toThrow(SyntaxError);
  });

  it.each([`{"__proto__":{"x":1},"a":"${long}"}`, `{"a":1,"a":["${long}"]}`, `["\\\\","\\"",{"${long}":"\\\\\\""}]`])(
    'names and texts of any kind (%#)',
    (text) => {
      const value = parsed(text) as object;
      expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
      expect(Object.getPrototypeOf(value)).toBe(Object.getPrototypeOf(JSON.parse(text)));
    },
  );

  it('but an object of very many names, or much that is nested deep, would hold up all others', () => {
    const names = (count: number): string =>
      `{"arguments":{${Array.from({ length: count }, (_, n) => `"name${n}":${n}`).join()}}}`;
    expect(parsed(names(16_384))).toEqual(JSON.parse(names(16_384)));
    expect(() => parsed(names(16_385))).toThrow(/more than 16384 names/);
    const deep = (length: number): string => `{"a":{"b":{"c":["${'x'.repeat(length)}"]}}}`;
    expect(parsed(deep(1_000_000))).toEqual(JSON.parse(deep(1_000_000)));
    expect(() => parsed(deep(1_100_000))).toThrow(/nested more than 3 levels deep is longer/);
  });

  it('with a pause for each part of what is long', () => {
    const text = JSON.stringify({ queues: Array.from({ length: 10_000 }, (_, n) => ({ name: `q${n}` })) });
    expect(whole(parsedJson(text)).pauses).toBeGreaterThan(10_000);
  });
});
