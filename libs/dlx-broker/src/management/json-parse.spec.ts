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

  it('with a pause for each part of what is long', () => {
    const text = JSON.stringify({ queues: Array.from({ length: 10_000 }, (_, n) => ({ name: `q${n}` })) });
    expect(whole(parsedJson(text)).pauses).toBeGreaterThan(10_000);
  });
});
