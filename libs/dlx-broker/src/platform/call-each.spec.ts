import { expect, it } from 'vitest';
import { callEach } from './text.js';

it('calls the function for each item, also behind one for which it throws', () => {
  const called: number[] = [];
  const failed: unknown[] = [];
  const call = (item: number): void => {
    called.push(item);
    if (item % 2 === 0) throw new Error(`no ${item}`);
  };
  callEach([1, 2, 3, 4], call, (error) => failed.push(error));
  expect([called, failed]).toEqual([
    [1, 2, 3, 4],
    [new Error('no 2'), new Error('no 4')],
  ]);
});
