import { expect, it } from 'vitest';
import { diffOf } from './diff.js';

it.each([
  ['nothing', 'a\nb', 'a\nb', []],
  ['a line', 'a\nb\nc', 'a\nx\nc', ['  a', '- b', '+ x', '  c']],
  ['a line more', 'a\nc', 'a\nb\nc', ['  a', '+ b', '  c']],
  ['a line less', 'a\nb\nb\nc', 'a\nb\nc', ['  a', '  b', '- b', '  c']],
  [
    'two places',
    'a\nb\nc\nd\ne\nf\ng',
    'A\nb\nc\nd\ne\nf\nG',
    ['- a', '+ A', '  b', '  c', '...', '  e', '  f', '- g', '+ G'],
  ],
  [
    'the middle of many',
    '1\n2\n3\n4\n5\n6\n7',
    '1\n2\n3\nx\n5\n6\n7',
    ['...', '  2', '  3', '- 4', '+ x', '  5', '  6', '...'],
  ],
])('shows %s', (_, before, after, lines) => {
  expect(diffOf(before, after)).toEqual(lines);
});

it('compares no two long texts line by line', () => {
  const lines = (name: string) => Array.from({ length: 3_000 }, (_, at) => `${name}${at}`).join('\n');
  expect(diffOf(lines('a'), lines('b'))).toHaveLength(6_000);
});
