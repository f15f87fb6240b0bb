import { describe, expect, it } from 'vitest';
import { emptyTable } from '../../../engine/message/index.js';
import { tableOfJson } from '../field-json.js';
import { propertiesKey } from './binding-columns.js';

describe('rule U3: a binding is called by its key and a hash of its arguments', () => {
  it.each([
    ['', '~'],
    ['a.*', 'a.%2A'],
    ['a b~c', 'a+b%7Ec'],
    ['ü/#', '%C3%BC%2F%23'],
    ["(!)'-_", '%28%21%29%27-_'],
  ])('the key %j without arguments is %j', (key, expected) => {
    expect(propertiesKey(key, emptyTable)).toBe(expected);
  });

  it('tells bindings of one key apart by type and value of their arguments, in any order of the names', () => {
    const keyOf = (json: string): string => propertiesKey('a b', tableOfJson(JSON.parse(json) as object));
    const different = [
      '{"a":1}',
      '{"a":"1"}',
      '{"a":true}',
      '{"a":1.5}',
      '{"a":[]}',
      '{"a":{}}',
      '{"a":{"b":1}}',
      '{"b":1,"a":"x"}',
    ].map(keyOf);
    expect(new Set(different).size).toBe(different.length);
    for (const key of different) expect(key).toMatch(/^a\+b~[\w-]{6}$/);
    expect(keyOf('{"a":"x","b":1}')).toBe(keyOf('{"b":1,"a":"x"}'));
  });
});
