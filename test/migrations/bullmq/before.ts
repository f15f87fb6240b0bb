import { type Job, Queue, UnrecoverableError, Worker } from 'bullmq';
import type { Mails } from '../shop.js';

interface Mail {
  readonly to: string;
}

export async function start(url: string): Promise<Mails> {
  const log: string[] = [];
  let isFixed = false;
  const connection = { url, maxRetriesPerRequest: null };
  const queue = new Queue<Mail>('mails', { connection });

  const process = async ({ data: { to }, attemptsMade }: Job<Mail>): Promise<void> => {
    log.push(`to ${to}, attempt ${attemptsMade + 1}`);
    if (to === 'wrong') throw new UnrecoverableError('no such address');
    if (to === 'away' && !isFixed) throw new Error('no answer');
    if (to === 'busy' && attemptsMade < 2) throw new Error('the server is busy');
  };
  const worker = new Worker<Mail>('mails', process, { connection, concurrency: 5 });
  worker.on('error', () => undefined);
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);

  return {
    log,
    send: (to, delay = 0) =>
      queue.add(
        'mail',
        { to },
        { attempts: 3, backoff: { type: 'exponential', delay: 10 }, delay, removeOnComplete: true },
      ),
    failed: async () => (await queue.getFailed()).map(({ data }) => data.to),
    again: async () => {
      isFixed = true;
      for (const job of await queue.getFailed()) if (job.data.to === 'away') await job.retry();
    },
    close: async () => {
      await worker.close();
      await queue.close();
    },
  };
}
