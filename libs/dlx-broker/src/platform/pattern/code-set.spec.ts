import { describe, expect, it } from 'vitest';
import { codeRange, CodeSet } from './code-set.js';

describe('a set of characters', () => {
  it('has its ranges once, in order, and those that touch as one', () => {
    const given = [codeRange(98, 99), codeRange(120, 122), codeRange(98, 98), codeRange(100, 101), codeRange(96, 110)];
    const set = new CodeSet([...given, ...given]);
    expect(set.ranges).toEqual([codeRange(96, 110), codeRange(120, 122)]);
  });

  it('has what its ranges have, in Latin-1 and above', () => {
    const bounds = [0, 7, 9, 9, 200, 300, 302, 302, 5_000, 6_000, 65_530, 65_535];
    const ranges = Array.from({ length: bounds.length / 2 }, (_, at) => bounds.slice(2 * at, 2 * at + 2));
    const set = new CodeSet(ranges.map(([first = 0, last = 0]) => codeRange(first, last)));
    const wrong = Array.from({ length: 65_536 }, (_, code) => code).filter((code) => {
      const expected = ranges.some(([first = 0, last = 0]) => code >= first && code <= last);
      return set.has(code) !== expected || set.inverse.has(code) === expected;
    });
    expect(wrong).toEqual([]);
    expect(set.inverse.inverse.ranges).toEqual(set.ranges);
  });

  it('may be empty', () => {
    const none = new CodeSet([]);
    expect([none.has(0), none.has(65_535), none.inverse.has(300)]).toEqual([false, false, true]);
  });
});
