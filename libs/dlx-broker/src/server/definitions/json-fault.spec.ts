import { describe, expect, it } from 'vitest';
import { jsonFault } from './load.js';

describe('the place of a fault in JSON', () => {
  it.each([
    ['{', 'line 1, column 2, where the text ends too early'],
    ['{\n  "queues": [\n    { "name": "q" },\n  ]\n}', 'line 4, column 3'],
    ['{"a":1,\r\n\t b:2}', 'line 2, column 3'],
    ['{"a" 1}', 'line 1, column 6'],
    ['{"a":01}', 'line 1, column 7'],
    ['[1 2]', 'line 1, column 4'],
    ['{"a":[true,null,-1.5e3,"\\u00e4\\n"]} x', 'line 1, column 37'],
    ['{"a":\n"not closed}', 'line 2, column 1'],
    ['{"a":"\\x"}', 'line 1, column 6'],
    ['queues: []', 'line 1, column 1'],
    [`{"a":"${'\\n'.repeat(1_000_000)}",\n}`, 'line 2, column 1'],
  ])('is named by line and column: %#', (text, place) => {
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    expect(jsonFault(text)).toBe(place);
  });
});
