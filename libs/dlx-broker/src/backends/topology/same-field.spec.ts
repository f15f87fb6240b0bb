import { expect, it } from 'vitest';
import { sameField } from './topology.js';

it('integers are the same by value, whatever their width', () => {
  expect(sameField({ type: 'I', value: 5 }, { type: 'l', value: 5 })).toBe(true);
  expect(sameField({ type: 'I', value: 5 }, { type: 'S', value: '5' })).toBe(false);
  expect(sameField(undefined, { type: 'V', value: undefined })).toBe(false);
});
