import { expect, it } from 'vitest';
import { stackless } from './text.js';

it('makes an error without frames, and the next one with them', () => {
  const error = stackless(() => new TypeError('mine'));
  expect([error.message, error.stack]).toEqual(['mine', 'TypeError: mine']);
  expect(new Error('next').stack).toContain('stackless.spec');
  expect(() =>
    stackless(() => {
      throw new Error('thrown');
    }),
  ).toThrow('thrown');
  expect(new Error('next').stack).toContain('stackless.spec');
});
