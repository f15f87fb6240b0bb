import { describe, expect, it } from 'vitest';
import { longstr, Message, emptyBody } from '../../../engine/message/index.js';
import { RedrivenHeaders } from './mover.js';

describe('the headers of redriven messages', () => {
  const own = new Map([['dlx-error-class', longstr('Error')]]);
  const message = (): Message => new Message('', 'work', { headers: own }, emptyBody);
  const note = { from: 'work.parked', by: 'guest', task: '1' };

  it.each([false, true])('are one object within a second (history kept: %s)', (keepsHistory) => {
    const headers = new RedrivenHeaders({ ...note, keepsHistory });
    const first = headers.of(message(), 1_000);
    expect(headers.of(message(), 1_999)).toBe(first);
    expect(first.get('dlx-redriven-at')?.value).toBe(1);
    expect(headers.of(message(), 2_000).get('dlx-redriven-at')?.value).toBe(2);
    expect(first.has('dlx-error-class')).toBe(keepsHistory);
  });

  it('of two redrives are not the same', () => {
    const tasks = ['1', '2'].map((task) => new RedrivenHeaders({ ...note, task, keepsHistory: false }));
    expect(tasks.map((headers) => headers.of(message(), 0).get('dlx-redriven-task')?.value)).toEqual(['1', '2']);
  });
});
