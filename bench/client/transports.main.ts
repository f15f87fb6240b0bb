import { connectOwn } from './clients.js';
import { cost, Costs } from './cost.js';
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

const handling = (contender: Contender, count: number) => (): Promise<void> =>
  new Promise((resolve) => {
    let seen = 0;
    void contender.handle(() => {
      if (++seen === count) resolve();
    });
  });

const costs = new Costs();
for (let round = 0; round <= rounds; round++) {
  for (const open of [ours, nest, byHand]) {
    const queue = `bench.${process.pid}.${open.name}`;
    const contender = await open(url, queue);
    const few = await cost(events, emitting(contender, 100));
    const many = await cost(events, emitting(contender, 1_000));
    const handled = await cost(events * 2, handling(contender, events * 2));
    await contender.close();
    const { connection, channel } = await connectOwn(url);
    await new Promise<void>((resolve) => channel.deleteQueue(queue, {}, () => resolve()));
    connection.close();
    if (round === 0) continue; // it warms up
    costs.note(`emit, 100 outstanding: ${contender.name}`, few);
    costs.note(`emit, 1,000 outstanding: ${contender.name}`, many);
    costs.note(`handle: ${contender.name}`, handled);
  }
}
costs.print();
process.exit(0);
