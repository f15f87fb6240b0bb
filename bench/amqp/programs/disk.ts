import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Pace, Result } from '../measure.js';

/** Records a second that a file takes, when a batch is written and then synced. */
export async function appendAndSync(folder: string, records: number, size: number, pace: Pace): Promise<Result> {
  const file = openSync(join(folder, 'records'), 'a');
  const batch = Buffer.alloc(records * size, 'x');
  const append = (seconds: number): number => {
    const end = performance.now() + seconds * 1000;
    let written = 0;
    for (; performance.now() < end; written += records) {
      writeSync(file, batch);
      fdatasyncSync(file);
    }
    return written;
  };
  append(pace.warm);
  const begun = performance.now();
  const written = append(pace.measured);
  const value = written / ((performance.now() - begun) / 1000);
  closeSync(file);
  return { value };
}
