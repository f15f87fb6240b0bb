import { expect, it } from 'vitest';
import { Lines } from './lines.js';

it('puts lines together, also from half a character', () => {
  const lines = new Lines();
  const bytes = Buffer.from('one ü\ntwo\n\nfour');
  const given = [...bytes].map((byte) => lines.add(Buffer.from([byte])));
  expect(given.filter((text) => text !== '')).toEqual(['one ü\n', 'two\n', '\n']);
  expect(lines.count).toBe(3);
  expect(new Lines().add(bytes)).toBe('one ü\ntwo\n\n');
});
