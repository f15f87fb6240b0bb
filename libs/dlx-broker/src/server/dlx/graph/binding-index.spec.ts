import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyIndex, type Keys, keysOf, oneKey, overlaps } from './binding-index.js';

const word = fc.constantFrom('a', 'b', '*', '#');
const key = fc.array(word, { maxLength: 5 }).map((words) => words.join('.'));
/** A key of a message, in which `*` and `#` are words as any other, or the pattern of a binding. */
const keys = fc.oneof(
  key.map((text) => oneKey(text)),
  key.map((text) => keysOf('topic', text)),
);

describe('an index of keys', () => {
  it('finds everything that has a key in common with a pattern (rule P7)', () => {
    fc.assert(
      fc.property(fc.array(keys, { maxLength: 20 }), keys, (items, asked) => {
        const index = new KeyIndex<Keys>();
        for (const item of items) index.add(item, item);
        const found = new Set(index.candidates(asked).flat());
        for (const item of items) if (overlaps(asked, item)) expect(found).toContain(item);
      }),
      { examples: [[[oneKey('a.b'), keysOf('topic', 'a.#')], keysOf('topic', 'a.*')]] },
    );
  });

  it('passes over what differs in one of the first words', () => {
    const index = new KeyIndex<number>();
    for (let n = 0; n < 1_000; n++) index.add(n, oneKey(`event.${n}`));
    index.add(1_000, keysOf('topic', '#.late'));
    index.add(1_001, keysOf('topic', '*.7.late'));
    expect(index.candidates(keysOf('topic', '*.7.#')).flat()).toEqual([7, 1_001, 1_000]);
    expect(index.candidates(keysOf('topic', 'other.*')).flat()).toEqual([1_000, 1_001]);
    expect(index.candidates(keysOf('topic', '#')).flat()).toHaveLength(1_002);
  });
});
