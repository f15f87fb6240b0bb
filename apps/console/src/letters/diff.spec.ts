import { describe, expect, it } from 'vitest';
import { diffLines, withContext } from './diff';

const marks = { same: ' ', removed: '-', added: '+' };
const diff = (before: string, after: string): string =>
  diffLines(before, after)
    .map(({ kind, text }) => marks[kind] + text)
    .join('|');

describe('the comparison of two strings', () => {
  it('has the fewest changed lines', () => {
    expect(diff('a\nb\nc\nd', 'a\nx\nc\nd\ne')).toBe(' a|-b|+x| c| d|+e');
    expect(diff('a\nb\nc', 'c\na\nb')).toBe('+c| a| b|-c');
    expect(diff('a', 'a')).toBe(' a');
    expect(diff('', 'a')).toBe('-|+a');
    expect(diff('a\na\na', 'a\na')).toBe(' a| a|-a');
  });

  it('gives both texts back', () => {
    const [before, after] = ['1\n2\n3\n4\n5\n6\n1\n2', '2\n1\n3\n9\n5\n5\n6\n2'];
    const lines = diffLines(before, after);
    const side = (not: string) => lines.filter(({ kind }) => kind !== not).map(({ text }) => text);
    expect([side('added').join('\n'), side('removed').join('\n')]).toEqual([before, after]);
  });

  it('replaces what is too long to compare', () => {
    const long = (mark: string) => Array.from({ length: 3_000 }, (_, index) => `${mark}${index}`).join('\n');
    const lines = diffLines(`same\n${long('a')}`, `same\n${long('b')}`);
    expect(lines).toHaveLength(6_001);
    expect(lines[0]).toEqual({ kind: 'same', text: 'same' });
  });

  it('leaves equal lines out that are far from a change', () => {
    const lines = diffLines('1\n2\n3\n4\n5\n6', '1\n2\n3\n4\n5\nx');
    expect(withContext(lines, 1)).toEqual([{ skipped: 4 }, { lines: lines.slice(4) }]);
    expect(withContext(diffLines('a\nb', 'a\nb'))).toEqual([{ skipped: 2 }]);
  });
});
