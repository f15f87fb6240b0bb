import { type BenchClient, own, rival } from './clients.js';
import { type Cost, cost, Costs } from './cost.js';

/*
 * Processor time of a message in the client: that of this library beside amqplib, against the server of AMQP_URL, in turns within one
 * run. `node dist/client/bench/client/main.js [messages] [rounds]`
 */
const [messages = 20_000, rounds = 3] = process.argv.slice(2).map(Number);
const url = new URL(process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672');

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

const all = new Costs();
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
    if (round > 0) for (const [name, one] of costs) all.note(`${name}: ${client.name}`, one);
  }
}

all.print();
process.exit(0);
