import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from 'dlx-broker/server';
import { TurnMeter } from './turns/meter.js';
import { endWithHelp } from './usage.js';

endWithHelp(`node dist/bench/open-backlog.js DIR [--without-hints]

Opens the data directory DIR, which durable-backlog.js fills, in a process that has only the broker. Prints JSON: seconds, processor time of all
threads in seconds, resident memory in bytes, bytes a message above an empty broker, and the longest turns of the event loop in milliseconds of
processor time of the main thread: with the longest work, and with the longest garbage collections.

  --without-hints  deletes the hints first, so that every segment is read`);

const [directory = '', how] = process.argv.slice(2);
if (how === '--without-hints')
  for (const name of readdirSync(directory)) if (name.endsWith('.hint')) rmSync(join(directory, name));

const empty = process.memoryUsage.rss();
const start = performance.now();
const used = process.cpuUsage();
const meter = new TurnMeter();
meter.begin();
const { broker, close } = await serve({
  amqp: { host: '127.0.0.1', port: 0 },
  data: { directory, durability: 'os', memory: 4_000_000 },
});
const { user, system } = process.cpuUsage(used);
const seconds = (performance.now() - start) / 1_000;
const turns = await meter.end();
const rss = process.memoryUsage.rss();
let messages = 0;
for (const { queues } of broker.virtualHosts.values()) for (const { length } of queues.values()) messages += length;
const result = {
  messages,
  seconds,
  processor: (user + system) / 1e6,
  rss,
  most: process.resourceUsage().maxRSS * 1_024,
  bytesEach: (rss - empty) / messages,
  turns: turns.length,
  longestWork: Math.max(...turns.map(({ cpu, gc }) => cpu - gc)),
  longestCollection: Math.max(...turns.map(({ gc }) => gc)),
  longestTurn: Math.max(...turns.map(({ cpu }) => cpu)),
};
process.stdout.write(`${JSON.stringify(result)}\n`);
await close();
