import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Cost, Costs } from './cost.js';

/*
 * Events through Nest applications: this library beside Nest's own RMQ transport and beside the same work by hand, against the server
 * of AMQP_URL, each in a process of its own, in turns. `node dist/client/bench/client/transports.main.js [bytes] [events] [chunks] [rounds]`
 */
const [bytes = 1_024, events = 5_000, chunks = 4, rounds = 3] = process.argv.slice(2).map(Number);
const url = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
const child = new URL('transports.child.js', import.meta.url).pathname;
const run = promisify(execFile);

const costs = new Costs();
for (let round = 0; round < rounds; round++) {
  for (const contender of ['ours', 'nest', 'hand']) {
    const { stdout } = await run(process.execPath, [child, contender, url, ...[bytes, events, chunks].map(String)]);
    for (const line of stdout.split('\n')) {
      if (!line.startsWith('{')) continue; // a line of Nest's logger
      const { job, ...cost } = JSON.parse(line) as Cost & { readonly job: string };
      costs.note(`${job}: ${contender}`, cost);
    }
  }
}
costs.print();
