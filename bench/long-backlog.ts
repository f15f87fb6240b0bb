import { serve } from 'dlx-broker/server';
import { type Broker, noProperties } from 'dlx-broker/engine';
import { dataFolder } from './amqp/data-folder.js';
import { type PropertyKind, propertyKinds } from './message-properties.js';
import { endWithHelp } from './usage.js';

endWithHelp(`node --expose-gc dist/bench/long-backlog.js [transient | durable] [MESSAGES] [DRAINED] [PROPERTIES]

Fills one queue of a broker that has a process of its own, and drains it. Prints the memory of a message, and the rates of the long queue beside
those of a short one, as JSON. Rates are by processor time of the process: the time of a clock depends on the disk.

  MESSAGES    messages in the queue (default: 1000000)
  DRAINED     messages that are consumed again (default: all)
  PROPERTIES  'alike' (default); 'ids': each message with a UUID and a timestamp; 'headers': also with a header of its own`);

const [kind = 'transient', count = '1000000', drained = count, differing = 'alike'] = process.argv.slice(2);
const messages = Number(count);
const isDurable = kind === 'durable';
/** Messages of the short queue. */
const few = Math.min(100_000, messages / 10);
/** Publishes in one turn. */
const inTurn = 1_000;
const properties = isDurable ? { deliveryMode: 2 } : noProperties;
const propertiesOf =
  differing === 'alike' ? () => properties : () => ({ ...properties, ...propertyKinds[differing as PropertyKind]() });

interface Phase {
  /** Microseconds of processor time a message: of all, of the first tenth, and of the last tenth. */
  readonly all: number;
  readonly first: number;
  readonly last: number;
  /** Messages in a second of wall time. */
  readonly rate: number;
}

const folder = isDurable ? dataFolder('long-backlog') : undefined;
const { broker, close } = await serve({
  amqp: { host: '127.0.0.1', port: 0 },
  ...(folder && { data: { directory: folder.folder, durability: 'os' } }),
});
let most = 0;
let longest = 0;
let begun = process.cpuUsage();
/** Notes the memory and the processor time of a turn, which includes threads that collect garbage. */
function noteTurn(): void {
  const { user, system } = process.cpuUsage(begun);
  begun = process.cpuUsage();
  longest = Math.max(longest, (user + system) / 1_000);
  most = Math.max(most, process.memoryUsage.rss());
}

const channel = broker.connect().openChannel(outbox(() => undefined));
channel.declareQueue('q', { durable: isDurable });
await fillAll(few);
await drainAll(broker, few);
const short = { fill: await fillAll(few), drain: await drainAll(broker, few) };
const before = process.memoryUsage.rss();
begun = process.cpuUsage();
longest = 0;
const fill = await fillAll(messages);
globalThis.gc?.();
const full = process.memoryUsage.rss();
const ratio = (one: Phase, other: Phase): string => (one.all / other.all).toFixed(2);
print({
  kind,
  properties: differing,
  messages,
  'bytes a message': Math.round((full - before) / messages),
  'RSS, MB': Math.round(full / 1e6),
  'RSS at most, MB': Math.round(most / 1e6),
  'fill, us': fill,
  'short queue, us': short.fill,
  'fill, of the rate of a short queue': ratio(short.fill, fill),
  'longest turn, ms': Math.round(longest),
});
longest = 0;
const drain = await drainAll(broker, Number(drained));
print({
  'RSS at most, MB': Math.round(most / 1e6),
  'drain, us': drain,
  'short queue, us': short.drain,
  'drain, of the rate of a short queue': ratio(short.drain, drain),
  'longest turn, ms': Math.round(longest),
});
await close();
folder?.remove();
process.exit(0);

function print(figures: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

function outbox(deliver: (deliveryTag: number) => void) {
  return {
    deliver: (delivery: { readonly deliveryTag: number }) => deliver(delivery.deliveryTag),
    returned() {},
    confirmed() {},
    cancelled() {},
    closed(error: Error) {
      throw error;
    },
  };
}

async function measure(all: number, run: (each: () => void) => Promise<void>): Promise<Phase> {
  const start = performance.now();
  const marks: number[] = [];
  let done = 0;
  const usage = process.cpuUsage();
  await run(() => {
    if (++done % (all / 10) !== 0) return;
    const { user, system } = process.cpuUsage(usage);
    marks.push(user + system);
  });
  if (done !== all) throw new Error(`${done} of ${all} messages`);
  const per = (from: number, to: number): number =>
    Number((((marks[to] as number) - (marks[from] ?? 0)) / ((all / 10) * (to - from))).toFixed(2));
  return {
    all: per(-1, 9),
    first: per(-1, 0),
    last: per(8, 9),
    rate: Math.round((all / (performance.now() - start)) * 1e3),
  };
}

/** Ends a turn of the event loop. Batches of the log are written between turns. */
async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  noteTurn();
}

function fillAll(all: number): Promise<Phase> {
  return measure(all, async (each) => {
    const { sequence } = broker;
    for (let sent = 1; sent <= all; sent++) {
      channel.publish('', 'q', propertiesOf(), isDurable ? Buffer.alloc(1_024, 'x') : Buffer.from('0123456789abcdef'));
      each();
      if (sent % inTurn !== 0) continue;
      // Like a publisher with a window of confirms, so that no batch of the log gets much longer than the window.
      if (isDurable) await new Promise<void>((resolve) => broker.onStored(sequence, () => resolve()));
      await nextTurn();
    }
  });
}

async function drainAll(from: Broker, all: number): Promise<Phase> {
  const connection = from.connect();
  let end = (): void => {};
  const phase = await measure(all, async (each) => {
    let left = all;
    const consumer = connection.openChannel(
      outbox((deliveryTag) => {
        consumer.ack(deliveryTag);
        each();
        if (--left === 0) end();
      }),
    );
    consumer.qos(250);
    const done = new Promise<void>((resolve) => (end = resolve));
    consumer.consume('q');
    let isOver = false;
    void done.then(() => (isOver = true));
    while (!isOver) await nextTurn();
  });
  connection.close();
  return phase;
}
