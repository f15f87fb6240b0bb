import { describe, expect, it } from 'vitest';
import { MemoryNotice } from './alarms.js';

function arranged() {
  const memory = { used: 45_100_000, limit: 600_000_000 };
  const lines: string[] = [];
  return {
    memory,
    lines,
    notice: new MemoryNotice(
      () => memory,
      (text) => lines.push(text),
    ),
  };
}

describe('the notices of a memory alarm', () => {
  it('are one line when it begins, and one when it is over', () => {
    const { memory, lines, notice } = arranged();
    notice.starts(false);
    notice.checked(false);
    expect(lines).toEqual([]);
    memory.used = 600_700_000;
    notice.checked(true);
    notice.checked(true);
    expect(lines).toEqual([
      'Warning: memory is short: publishers wait until there is more; consumers go on. In use: 601 MB. Limit: 600 MB',
    ]);
    memory.used = 9_040_000;
    notice.checked(false);
    notice.checked(false);
    expect(lines.slice(1)).toEqual(['Memory is sufficient again: publishers go on. In use: 9.0 MB. Limit: 600 MB']);
  });

  it('have the remedy when the limit is below what the process uses at its start', () => {
    const { memory, lines, notice } = arranged();
    memory.limit = 600;
    notice.starts(true);
    notice.checked(true);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^Warning: memory is short: publishers wait from the first message\. .*--memory-limit/);
    expect(lines[0]).toMatch(/such as 0\.4.* 600MB .*In use: 45 MB\. Limit: 600 bytes$/);
  });
});
