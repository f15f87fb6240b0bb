import { connectOwn } from './clients.js';
import { cost, type Cost, Costs } from './cost.js';
import { byHand, type Contender, type Event, nest, ours } from './transports.js';

/*
 * Events through Nest applications: this library beside Nest's own RMQ transport and beside the same work by hand, against the server
 * of AMQP_URL, in turns within one run. `node dist/client/bench/client/transports.main.js [events] [rounds]`
 */
const [events = 20_000, rounds = 3] = process.argv.slice(2).map(Number);
const url = new URL(process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672');
const text = 'x'.repeat(1_000);

const emitting = (contender: Contender, outstanding: number) => (): Promise<void> =>
  new Promise((resolve) => {
    let [sent, confirmed] = [0, 0];
    const one = (): void => {
      const event: Event = { number: sent++, text };
      contender.emit(event, () => {
        if (++confirmed === events) resolve();
        else if (sent < events) one();
      });
    };
    while (sent < outstanding) one();
  });

/** The cost of handling so many events, from the first one on: the start of an application is no part of it. */
const handled = (contender: Contender, count: number): Promise<Cost> =>
  new Promise((resolve) => {
    let seen = 0;
    let stop: (() => void) | undefined;
    void contender.handle(() => {
      seen++;
      if (seen === 1) void cost(count, () => new Promise<void>((end) => (stop = end))).then(resolve);
      else if (seen > count) stop?.();
    });
  });

const costs = new Costs();
for (let round = 0; round <= rounds; round++) {
  for (const open of [ours, nest, byHand]) {
    const queue = `bench.${process.pid}.${open.name}`;
    const contender = await open(url, queue);
    const few = await cost(events, emitting(contender, 100));
    const many = await cost(events, emitting(contender, 1_000));
    const handling = await handled(contender, events * 2 - 1);
    await contender.close();
    const { connection, channel } = await connectOwn(url);
    await new Promise<void>((resolve) => channel.deleteQueue(queue, {}, () => resolve()));
    connection.close();
    if (round === 0) continue; // it warms up
    costs.note(`emit, 100 outstanding: ${contender.name}`, few);
    costs.note(`emit, 1,000 outstanding: ${contender.name}`, many);
    costs.note(`handle: ${contender.name}`, handling);
  }
}
costs.print();
process.exit(0);
