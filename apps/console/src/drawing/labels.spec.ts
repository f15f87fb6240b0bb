import { expect, it } from 'vitest';
import { deathsText, keysText, linesOf, short } from './labels';

it('says how messages die', () => {
  expect(deathsText({ automatic: [], delay: null }, false)).toBe('rejected');
  expect(deathsText({ automatic: ['maxlen', 'delivery_limit'], delay: null }, false)).toBe(
    'rejected, maxlen, delivery_limit',
  );
  expect(deathsText({ automatic: ['expired', 'maxlen'], delay: 30_000 }, false)).toBe('expired after 30 s');
  expect(deathsText({ automatic: ['expired', 'maxlen'], delay: 30_000 }, true)).toBe(
    'rejected, expired after 30 s, maxlen',
  );
});

it('has a line for each reason', () => {
  expect(linesOf('rejected, maxlen')).toEqual(['rejected', 'maxlen']);
  expect(linesOf('')).toEqual([]);
});

it('shortens routing keys', () => {
  expect(keysText([''])).toBe('');
  expect(keysText(['order.created'])).toBe('order.created');
  expect(keysText(['a', 'b'])).toBe('a, b');
  expect(keysText(['', 'b'])).toBe('b');
  expect(keysText(['a', 'b', 'c'])).toBe('a +2');
});

it('leaves out the middle of a text, and cuts no character in two', () => {
  expect(short('abcdefgh', 8)).toBe('abcdefgh');
  expect(short('abcdefghi', 8)).toBe('abcd…ghi');
  expect(short('😀😀😀😀😀', 4)).toBe('😀😀…😀');
});
