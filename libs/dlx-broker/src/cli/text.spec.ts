import { expect, it } from 'vitest';
import { Lines, oneLine, when } from './text.js';

it('shows times in UTC, and texts in one line', () => {
  expect(when(1_767_268_800_000)).toBe('2026-01-01 12:00:00');
  expect(when(1_767_268_800_001)).toBe('2026-01-01 12:00:00.001');
  expect([when(null), when(undefined)]).toEqual(['', '']);
  expect(oneLine('a\n  b', 10)).toBe('a b');
  expect(oneLine('abcdef', 4)).toBe('abc…');
});

it('puts lines together, also from half a character', () => {
  const lines = new Lines();
  const bytes = Buffer.from('one ü\ntwo\n\nfour');
  const given = [...bytes].map((byte) => lines.add(Buffer.from([byte])));
  expect(given.filter((text) => text !== '')).toEqual(['one ü\n', 'two\n', '\n']);
  expect(lines.count).toBe(3);
  expect(new Lines().add(bytes)).toBe('one ü\ntwo\n\n');
});
