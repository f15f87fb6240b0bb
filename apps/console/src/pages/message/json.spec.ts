import { describe, expect, it } from 'vitest';
import { formatJson, parseJson, problemOf } from './json';

const format = (text: string): string | undefined => {
  const node = parseJson(text);
  return node && formatJson(node);
};

describe('JSON of a body', () => {
  it('keeps each digit of a number', () => {
    const text = '[90071992547409931234, 1.10, 1e400, -0, 123456789.123456789012345678]';
    expect(parseJson(text)).toMatchObject({
      items: ['90071992547409931234', '1.10', '1e400', '-0', '123456789.123456789012345678'].map((each) => ({
        kind: 'number',
        text: each,
      })),
    });
    expect(format(text)?.replace(/\s+/g, ' ')).toBe(`[ ${text.slice(1, -1)} ]`);
  });

  it('keeps repeated names, their order, and names such as __proto__', () => {
    const text = '{\n  "b": 1,\n  "__proto__": {\n    "x": []\n  },\n  "2": {},\n  "1": null,\n  "b": true\n}';
    expect(format(text)).toBe(text);
  });

  it('reads escapes, and any space', () => {
    expect(parseJson(' \r\n"a\\"\\\\\\u00e9\\n" \t')).toEqual({ kind: 'string', value: 'a"\\é\n' });
    expect(format('{"a":[1,2 , 3],"b":"\\\\"}')).toBe('{\n  "a": [\n    1,\n    2,\n    3\n  ],\n  "b": "\\\\"\n}');
  });

  it('is not there for other texts', () => {
    for (const text of ['', '{', '{"a":1,}', "{'a':1}", '01', 'NaN', '"a', '1 2']) {
      expect([text, parseJson(text)]).toEqual([text, undefined]);
      expect(problemOf(text)).toBeTruthy();
    }
  });

  it('is no tree when it is nested too deeply', () => {
    expect(parseJson('['.repeat(150) + ']'.repeat(150))).toBeDefined();
    expect(parseJson('['.repeat(50_000) + ']'.repeat(50_000))).toBeUndefined();
  });

  it('may have a long text', () => {
    const long = 'x'.repeat(1_000_000);
    expect(parseJson(JSON.stringify({ long }))).toEqual({
      kind: 'object',
      members: [['long', { kind: 'string', value: long }]],
    });
  });
});
