import { expect, it } from 'vitest';
import { CountedNames } from './counted-names.js';

it('counted names are 22 characters of base64url, distinct, and the same in every run (rule O2)', () => {
  const take = () => {
    const names = new CountedNames();
    return Array.from({ length: 5_000 }, () => names.token());
  };
  const tokens = take();
  expect(tokens.slice(0, 2)).toEqual(['AAAAAAAAAAAAAAAAAAAAAB', 'AAAAAAAAAAAAAAAAAAAAAC']);
  expect(tokens.every((token) => /^[\w-]{22}$/.test(token))).toBe(true);
  expect(new Set(tokens).size).toBe(5_000);
  expect(take()).toEqual(tokens);
});
