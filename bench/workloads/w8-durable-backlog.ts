import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { dataFolder } from '../amqp/data-folder.js';
import type { Backlog } from '../durable-backlog.js';
import type { Measurement, Workload } from '../workload.js';

const messages = 1_000_000;
const program = fileURLToPath(new URL('../durable-backlog.js', import.meta.url));

/** In a process with no other code. */
function run(...args: readonly string[]): Backlog {
  const backlog = JSON.parse(execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' })) as Backlog;
  if (backlog.messages !== messages) throw new Error(`there are ${backlog.messages} messages, not ${messages}`);
  return backlog;
}

function measure(): Measurement {
  const { folder, remove } = dataFolder('backlog');
  try {
    const filled = run('fill', folder, String(messages));
    const opened = run('open', folder);
    return {
      value: filled.rss / 1e6,
      cpu: ((filled.cpu + opened.cpu) * 1e6) / messages,
      extra: {
        'at most, MB': (filled.most / 1e6).toFixed(0),
        'opened again, MB': (opened.rss / 1e6).toFixed(0),
        'at most then, MB': (opened.most / 1e6).toFixed(0),
        'opened in, s': opened.seconds.toFixed(1),
        'published in, s': filled.seconds.toFixed(1),
      },
    };
  } finally {
    remove();
  }
}

/** The settings of a process with little memory: bodies are on disk, and 4 MB of them in memory. */
export const w8Durable: Workload = {
  id: 'W8 durable',
  title: 'resident memory with 1,000,000 persistent messages of 1 KB waiting in a durable queue',
  unit: 'MB',
  more: 'worse',
  peers: { 'dlx-broker': measure },
};
