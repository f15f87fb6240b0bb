import { type Pace, rateOf, type Result } from '../measure.js';
import type { Target } from '../target.js';

/** Jobs a second that a queue takes. Each is on disk before its answer. There is no worker. */
export async function withBullMq(target: Target, pace: Pace, outstanding: number, size: number): Promise<Result> {
  // It takes long to load, and only this program needs it.
  const { Queue } = await import('bullmq');
  const queue = new Queue('w2', { connection: { host: target.host, port: target.port } });
  const data = 'x'.repeat(size);
  let added = 0;
  let isStopped = false;
  const adder = async (): Promise<void> => {
    for (; !isStopped; added++) await queue.add('job', { data });
  };
  const adders = Array.from({ length: outstanding }, adder);
  const result = await rateOf(target, pace, () => added);
  isStopped = true;
  await Promise.all(adders);
  await queue.close();
  return result;
}
