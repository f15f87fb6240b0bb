import { describe, expect, it, vi } from 'vitest';
import { policyPatterns } from '../patterns.js';
import { CodeSet } from './code-set.js';
import { readClass, Reader } from './set.js';

const fits = (text: string, anyCase = false) => {
  const test = readClass(new Reader(`${text}]`), anyCase);
  return (characters: string) => Array.from(characters, (each) => test(each.charCodeAt(0)));
};

describe('a character class', () => {
  it('has what its parts have', () => {
    expect(fits('a-c\\dx-')('bdx5-y')).toEqual([true, false, true, true, true, false]);
    expect(fits('^a-c')('bd')).toEqual([false, true]);
    expect(fits('[:^alpha:]')('a1')).toEqual([false, true]);
    expect(fits('\\p{Lu}\u0101-\u0103')('Aa\u0102\u0104')).toEqual([true, false, true, true]);
    expect(fits('a-\\d')('a-5b')).toEqual([true, true, true, false]);
  });

  it('has characters and ranges in both cases with (?i)', () => {
    expect(fits('ax-zB', true)('AaYyXbBc')).toEqual([true, true, true, true, true, true, true, false]);
    expect(fits('^a', true)('Ab')).toEqual([false, true]);
  });

  // Asked of RabbitMQ 3.10.8.
  it('has letters of both cases for [:lower:] and [:upper:] with (?i)', () => {
    expect(fits('[:lower:]', true)('aA1')).toEqual([true, true, false]);
    expect(fits('[:upper:]', true)('aA1')).toEqual([true, true, false]);
    expect(fits('[:^lower:]', true)('aA1')).toEqual([false, false, true]);
    expect(fits('[:lower:]')('aA1')).toEqual([true, false, false]);
  });

  it('is one look into one range for each character, however large it is', () => {
    const matcher = policyPatterns.compile(`[${'b-c'.repeat(10_000)}]*y`);
    const has = vi.spyOn(CodeSet.prototype, 'has');
    expect(matcher.matches('a'.repeat(200))).toBe(false);
    expect(has.mock.calls.length).toBe(200);
    expect(has.mock.contexts[0]).toHaveProperty('ranges.length', 1);
    has.mockRestore();
  });

  it('looks a property of Unicode up once', () => {
    const where = vi.spyOn(CodeSet, 'where');
    for (let count = 0; count < 3; count++)
      policyPatterns.compile(`[\\p{Greek}\\P{Greek}x]${count}`.replace(/Greek/g, 'Nl'));
    expect(where).toHaveBeenCalledTimes(1);
    where.mockRestore();
  });
});
