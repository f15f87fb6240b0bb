import { type BenchClient, own, rival } from './clients.js';

/*
 * Processor time of a message in the client: ours beside amqplib, against the server of AMQP_URL, in turns within one
 * run. `node dist/client/bench/client/main.js [messages] [rounds]`
 */
const [messages = 20_000, rounds = 3] = process.argv.slice(2).map(Number);
const url = new URL(process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672');

interface Cost {
  /** Microseconds of this process for a message. */
  readonly cpu: number;
  /** Messages a second. */
  readonly rate: number;
}

async function cost(count: number, work: () => Promise<void>): Promise<Cost> {
  const [cpu, begun] = [process.cpuUsage(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { cpu: (user + system) / count, rate: (count / (performance.now() - begun)) * 1_000 };
}

const publishing = (client: BenchClient, count: number, outstanding: number) => (): Promise<void> =>
  new Promise((resolve) => {
    let [sent, confirmed] = [0, 0];
    const one = (): void => {
      sent++;
      client.publish(() => {
        if (++confirmed === count) resolve();
        else if (sent < count) one();
      });
    };
    while (sent < Math.min(outstanding, count)) one();
  });

const consuming = (client: BenchClient, count: number) => (): Promise<void> =>
  new Promise((resolve) => {
    let seen = 0;
    client.consume(100, () => {
      if (++seen === count) resolve();
    });
  });

const found = new Map<string, Cost[]>();
const note = (name: string, one: Cost): void => void found.set(name, [...(found.get(name) ?? []), one]);

for (let round = 0; round <= rounds; round++) {
  for (const open of [own, rival]) {
    const client = await open(url);
    const single = Math.ceil(messages / 20);
    const costs: [string, Cost][] = [
      ['1 outstanding', await cost(single, publishing(client, single, 1))],
      ['100 outstanding', await cost(messages, publishing(client, messages, 100))],
      ['1,000 outstanding', await cost(messages, publishing(client, messages, 1_000))],
      ['consume, prefetch 100', await cost(messages * 2 + single, consuming(client, messages * 2 + single))],
    ];
    client.close();
    // The first round warms up.
    if (round > 0) for (const [name, one] of costs) note(`${name}: ${client.name}`, one);
  }
}

const median = (values: number[]): number => values.sort((one, other) => one - other)[values.length >> 1] as number;
for (const [name, costs] of [...found].sort()) {
  const cpu = median(costs.map((one) => one.cpu)).toFixed(1);
  const rate = Math.round(median(costs.map((one) => one.rate)));
  console.log(`${name.padEnd(34)} ${cpu.padStart(7)} µs of processor time a message, ${rate} messages/s`);
}
process.exit(0);
