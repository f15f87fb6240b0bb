import { Logger } from '@nestjs/common';
import { afterEach, expect, it } from 'vitest';
import { EventLog } from '../log/event-log.js';
import { shutDown } from './shut-down.js';

afterEach(() => Logger.overrideLogger(false));

it('takes each step in turn, also behind those that fail, throws the first error, and logs the others', async () => {
  const lines: string[] = [];
  Logger.overrideLogger({ log: () => undefined, warn: () => undefined, error: (line: string) => lines.push(line) });
  const taken: number[] = [];
  const steps = [
    () => taken.push(1),
    async () => {
      await Promise.resolve();
      taken.push(2);
      throw new Error('no 2');
    },
    () => {
      taken.push(3);
      throw new Error('no 3');
    },
    () => taken.push(4),
  ];
  await expect(shutDown(new EventLog('test'), steps)).rejects.toThrow('no 2');
  expect(taken).toEqual([1, 2, 3, 4]);
  expect(lines).toEqual(['a step of the shutdown failed: Error: no 3']);
});
