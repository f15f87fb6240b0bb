import { serve } from 'dlx-broker/server';
import type { Broker } from 'dlx-broker/engine';
import { endWithHelp } from './usage.js';

endWithHelp(`node dist/bench/durable-backlog.js fill DIR MESSAGES
node dist/bench/durable-backlog.js open DIR

Publishes a backlog to a queue in the data directory DIR, or opens the directory, in a process that has only the broker. Prints time and memory as
JSON.`);

/** Memory and time of the process when it has the backlog. */
export interface Backlog {
  readonly messages: number;
  /** Resident memory in bytes: now, and at most until now. */
  readonly rss: number;
  readonly most: number;
  /** The time until then. */
  readonly seconds: number;
  /** Processor time until then, in seconds. */
  readonly cpu: number;
}

/** Publishes that wait for their confirm at a time. */
const outstanding = 1_000;

const [how, directory = '', count] = process.argv.slice(2);
const start = performance.now();
const { broker, close } = await serve({
  amqp: { host: '127.0.0.1', port: 0 },
  data: { directory, durability: 'os', memory: 4_000_000 },
});
if (how === 'fill') await fill(broker, Number(count));
const backlog: Backlog = {
  messages: broker.virtualHosts.get('/')?.queues.get('q')?.length ?? 0,
  rss: process.memoryUsage().rss,
  most: process.resourceUsage().maxRSS * 1_024,
  seconds: (performance.now() - start) / 1_000,
  cpu: (({ user, system }) => (user + system) / 1e6)(process.cpuUsage()),
};
process.stdout.write(JSON.stringify(backlog));
await close();

async function fill(into: Broker, messages: number): Promise<void> {
  let confirmed = 0;
  let wake = (): void => {};
  const channel = into.connect().openChannel({
    deliver() {},
    returned() {},
    confirmed(deliveryTag, _multiple, ok) {
      if (!ok) throw new Error(`publish ${deliveryTag} was refused`);
      confirmed = deliveryTag;
      wake();
    },
    cancelled() {},
    closed(error) {
      throw error;
    },
  });
  channel.declareQueue('q', { durable: true });
  channel.confirmSelect();
  for (let sent = 1; sent <= messages; sent++) {
    channel.publish('', 'q', { deliveryMode: 2 }, Buffer.alloc(1_024, 'x'));
    if (sent % outstanding === 0) while (confirmed < sent) await new Promise<void>((resolve) => (wake = resolve));
  }
}
