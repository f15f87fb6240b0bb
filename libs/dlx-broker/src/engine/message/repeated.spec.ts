import { describe, expect, it } from 'vitest';
import { longstr, Repeated, RepeatedField } from './field-table.js';

describe('a repeated result', () => {
  it('is made once while its parts stay the same', () => {
    const repeated = new Repeated<string[]>();
    const headers = new Map();
    const make = (...parts: unknown[]): string[] => repeated.of(parts, () => parts.map(String));
    const first = make('work', 1, headers);
    expect(make('work', 1, headers)).toBe(first);
    expect(make('work', 2, headers)).toEqual(['work', '2', '[object Map]']);
    expect(make('work', 2, new Map())).not.toBe(make('work', 2, headers));
    expect(make('work')).toEqual(['work']);
    expect(make('work', undefined)).toEqual(['work', 'undefined']);
  });

  it('is a field of one value', () => {
    const texts = new RepeatedField(longstr);
    const first = texts.of('a');
    expect(texts.of('a')).toBe(first);
    expect(texts.of('b')).toEqual(longstr('b'));
    expect(texts.of('a')).toEqual(first);
  });
});
