import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject, type MergePatch, mergedText } from './merge-patch.js';

const merged = (text: string, patch: unknown): string => mergedText(text, patch as MergePatch, text.indexOf('{'));

/** The algorithm of RFC 7396, on values. */
function applied(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name);
    else result.set(name, applied(result.get(name), value));
  }
  const object = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of result) object[name] = value;
  return object;
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.entries(value)
    .map(([name, each]) => [name, sorted(each)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
};

describe('a merge patch', () => {
  // Appendix A of RFC 7396, as far as target and patch are objects.
  it.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('of RFC 7396: %s and %s', (text, patch, expected) => {
    expect(merged(text, JSON.parse(patch))).toBe(expected);
  });

  it('keeps every byte of what it does not name', () => {
    const text = '{ "id" : 12345678901234567890,\n  "price": 1.0,"\\u0061": "\\u00e9" , "n": {"x":1e2, "y": [ 1 ]}  }';
    expect(merged(text, { n: { y: 2 } })).toBe(text.replace('[ 1 ]', '2'));
    expect(merged(text, { a: 'b' })).toBe(text.replace('"\\u00e9"', '"b"'));
    expect(merged(text, { price: null })).toBe(text.replace('\n  "price": 1.0,', ''));
    expect(merged(text, { more: true })).toBe(text.replace('  }', ', "more": true  }'));
  });

  it('returns the text itself when it changes nothing', () => {
    const text = '{"a": 1.0, "b": {"c": [1, 2]}, "t": "x\\"}"}';
    for (const patch of [{ a: 1 }, { missing: null }, { b: { c: [1, 2], d: null } }, { b: {} }, { t: 'x"}' }, {}])
      expect(merged(text, patch)).toBe(text);
  });

  it('replaces the last of members with one name, and leaves no other', () => {
    expect(merged('{"a":1,"b":2,"a":3}', { a: 4 })).toBe('{"b":2,"a":4}');
    expect(merged('{"a":1,"b":2,"a":3}', { a: null })).toBe('{"b":2}');
    expect(merged('{"a":{"x":1},"a":{"y":2}}', { a: { z: 3 } })).toBe('{"a":{"y":2,"z":3}}');
  });

  it('makes no object of the text: __proto__ is a name', () => {
    const patch = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":null}}') as MergePatch;
    expect(merged('{"a":1}', patch)).toBe('{"a":1,"__proto__":{"polluted":1},"constructor":{}}');
    expect(merged('{"__proto__":{"isAdmin":true},"a":1}', JSON.parse('{"__proto__":null}'))).toBe('{"a":1}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('agrees with the algorithm of the RFC on any values', () => {
    const key = fc.constantFrom('a', 'b', 'c', '"', '__proto__');
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, true, 0, -1.5, '', 'text, "}]'),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 }),
      ),
    }));
    const object = fc.dictionary(key, value, { maxKeys: 5 });
    fc.assert(
      fc.property(object, object, fc.constantFrom(0, 2), (target, patch, indent) => {
        const [text, given] = [JSON.stringify(target, null, indent), JSON.parse(JSON.stringify(patch)) as MergePatch];
        const result = JSON.parse(merged(text, given)) as unknown;
        expect(sorted(result)).toEqual(sorted(applied(JSON.parse(text), given)));
      }),
      { numRuns: 500 },
    );
  });
});
