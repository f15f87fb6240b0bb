import { connectOwn } from './clients.js';
import { cost, type Cost } from './cost.js';
import { byHand, type Contender, type Event, nest, ours } from './transports.js';

/*
 * One contender of `transports.main.ts` in a process of its own. `node transports.child.js CONTENDER URL bytes events chunks [outstanding]`.
 * Prints a line of JSON for each chunk of each job.
 */
const [kind = 'ours', href, bytes, events, chunks, windows = '100,1000,10000'] = process.argv.slice(2);
const outstandings = windows.split(',').map(Number);
const url = new URL(href!);
const [size, count, rounds] = [bytes, events, chunks].map(Number) as [number, number, number];
const toQueue = (place: URL, name: string): Promise<Contender> => byHand(place, name, '');
const opened = { ours, nest, hand: byHand, 'hand to its queue': toQueue }[kind as 'ours'];
const queue = `bench.${process.pid}.${kind[0]}`;
// `{"number":12345,"text":""}` has 26 bytes.
const text = 'x'.repeat(Math.max(0, size - 26));
const small = 'x'.repeat(Math.max(0, size - 2));

function emit(contender: Contender, outstanding: number, amount: number): Promise<void> {
  return new Promise((resolve) => {
    let [sent, confirmed] = [0, 0];
    const one = (): void => {
      const number = sent++;
      contender.emit(size < 26 ? small : { number, text }, () => {
        if (++confirmed === amount) resolve();
        else if (sent < amount) one();
      });
    };
    while (sent < Math.min(outstanding, amount)) one();
  });
}

const report = (job: string, { cpu, rate }: Cost): void => console.log(JSON.stringify({ job, cpu, rate }));

const contender = await opened(url, queue);
/** With fewer events, compiling is measured. */
const warm = 20_000;
await emit(contender, 1_000, warm);
const backlog = Math.min(rounds, 6);
for (const outstanding of outstandings) {
  for (let round = 0; round < rounds; round++) {
    const found = await cost(count, () => emit(contender, outstanding, count));
    report(`emit, ${outstanding} outstanding`, found);
  }
}
// The backlog is handled in chunks, and then events are emitted and handled at once.
const total = warm + count * rounds * outstandings.length;
let seen = 0;
let wanted = 0;
let reached: (() => void) | undefined;
const until = (amount: number): Promise<void> =>
  new Promise((resolve) => {
    wanted += amount;
    reached = resolve;
  });
const handled = (_event: Event | string): void => {
  if (++seen === wanted) reached?.(); // further events may come before the next `until`
};
const first = until(warm);
await contender.handle(handled);
await first;
for (let done = warm; done + count <= total; done += count) report('handle', await cost(count, () => until(count)));
const isInstant = url.protocol === 'instant:';
for (let round = 0; round < backlog && !isInstant; round++) {
  const both = async (): Promise<void> => {
    const all = until(count);
    await emit(contender, 1_000, count);
    await all;
  };
  report('emit and handle at once', await cost(count, both));
}
if (isInstant) process.exit(0); // there is nothing to close, and no queue
await contender.close();
const { connection, channel } = await connectOwn(url);
await new Promise<void>((resolve) => channel.deleteQueue(queue, {}, () => resolve()));
connection.close();
process.exit(0);
