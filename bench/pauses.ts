import { parseArgs } from 'node:util';
import { type Channel, type ChannelOutbox, deathsOf, type Delivery, longstr } from 'dlx-broker/engine';
import { serve } from 'dlx-broker/server';
import { dataFolder } from './amqp/data-folder.js';
import { type Turn, TurnMeter } from './turns/meter.js';
import { endWithHelp } from './usage.js';

endWithHelp(`node --expose-gc dist/bench/pauses.js [transient | durable] [MESSAGES] [SCENE ...] [--data DIR]

Fills queues of a broker that has a process of its own, and empties them in different ways. Prints for each way the longest turns of the event loop
in milliseconds of processor time of the main thread. Transient messages have 16 bytes, durable ones 1 KB. The publisher makes 200 of them in a turn.

  MESSAGES    messages in the queue (default: 1000000)
  SCENE       only these: move (fill, steady load, drain), redrive, burst (fill, expire), purge, delete, close
  --data DIR  where the data directory of durable messages is made (default: beside the program)`);

const { values, positionals } = parseArgs({ allowPositionals: true, options: { data: { type: 'string' } } });
const [kind = 'transient', count = '1000000', ...only] = positionals;
const messages = Number(count);
const isDurable = kind === 'durable';
/** Publishes in one turn, and the most that wait for the store. */
const inTurn = 200;
const window = 2_000;
const text = isDurable ? 'x'.repeat(1_024) : '0123456789abcdef';
const properties = isDurable ? { deliveryMode: 2 } : {};
/** Messages that go through another queue while the first one stays full, and that are unacknowledged at the end of a channel. */
const passing = 1_000_000;
const held = 200_000;

const folder = isDurable ? dataFolder('pauses', values.data) : undefined;
const { broker, http, close } = await serve({
  amqp: { host: '127.0.0.1', port: 0 },
  http: { port: 0 },
  ...(folder && { data: { directory: folder.folder, durability: 'os' } }),
});
const meter = new TurnMeter();
const publisher = open(() => undefined);
for (const name of ['q', 'other', 'dead']) publisher.declareQueue(name, { durable: isDurable });
const toDead = { 'x-dead-letter-exchange': longstr(''), 'x-dead-letter-routing-key': longstr('dead') };
publisher.declareQueue('wait', { durable: isDurable, arguments: new Map(Object.entries(toDead)) });

const ms = (time: number): string => time.toFixed(1).padStart(6);
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const queueOf = (name: string) => broker.virtualHost('/').queues.get(name) as { readonly length: number };

console.log(`${kind}, ${messages} messages; turns in ms of processor time of the main thread
${'scene'.padEnd(44)}   turns  p99.99 longest work gc, its kinds | longest without gc | longest gc | RSS, MB`);
for (const [name, run] of Object.entries({ move, redrive, burst, purge, delete: remove, close: end })) {
  if (only.length === 0 || only.includes(name)) await run();
}
folder?.remove();
process.exit(0);

function open(deliver: (delivery: Delivery) => void): Channel {
  const outbox: ChannelOutbox = {
    deliver,
    returned() {},
    confirmed() {},
    cancelled() {},
    closed(error) {
      throw error;
    },
  };
  return broker.connect().openChannel(outbox);
}

async function move(): Promise<void> {
  await scene('fill', () => fill('q', messages));
  await scene('steady load beside the full queue', steady);
  await scene('drain', () => drain('q', messages, () => undefined));
}

/** The first request loads the client and the HTTP API, which takes long turns. */
async function redrive(): Promise<void> {
  await fill('q', messages - queueOf('q').length);
  await order('dead', 'q');
  await scene('redrive of all', async () => {
    await order('q', 'dead');
    while (queueOf('dead').length < messages) await new Promise((resolve) => setTimeout(resolve, 20));
  });
  publisher.purgeQueue('dead');
}

async function burst(): Promise<void> {
  const own = (n: number): object => ({ expiration: String(1 + (n % 9_973)) });
  await scene('fill for a burst', () => fill('wait', messages, own));
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  await scene('burst: all expire, and their deaths are read', expire);
}

async function purge(): Promise<void> {
  await fill('q', messages - queueOf('q').length);
  await scene('purge', () => publisher.purgeQueue('q'));
}

async function remove(): Promise<void> {
  await fill('q', messages - queueOf('q').length);
  await scene('delete the queue', () => publisher.deleteQueue('q'));
  publisher.declareQueue('q', { durable: isDurable });
}

async function end(): Promise<void> {
  await fill('q', messages - queueOf('q').length);
  const channel = open(() => undefined);
  for (let n = 0; n < held; n++) channel.get('q');
  await scene('close a channel with 200,000 unacknowledged', () => channel.close());
  await scene('close the broker', close);
}

/** Measures until the broker has nothing to do any more. */
async function scene(name: string, run: () => unknown): Promise<void> {
  globalThis.gc?.();
  await rest();
  meter.begin();
  await run();
  await rest();
  const turns = await meter.end();
  report(name, turns);
}

/** Until ten turns in a row have little to do, or for three seconds on a machine with other work. */
async function rest(): Promise<void> {
  const end = performance.now() + 3_000;
  for (let calm = 0; calm < 10 && performance.now() < end;) {
    const before = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 2));
    calm = performance.now() - before < 6 ? calm + 1 : 0;
  }
}

function report(name: string, turns: readonly Turn[]): void {
  const sorted = turns.toSorted((one, another) => another.cpu - one.cpu);
  const at = sorted[Math.floor(turns.length / 10_000)]?.cpu ?? 0;
  const work = Math.max(0, ...turns.map(({ cpu, gc }) => cpu - gc));
  const gc = Math.max(0, ...turns.map((one) => one.gc));
  const { cpu = 0, gc: own = 0, kinds = '' } = sorted[0] ?? {};
  const longest = `${ms(cpu)} ${ms(cpu - own)} ${ms(own)} ${kinds}`;
  const over = `${turns.filter((one) => one.cpu > 20).length} over 20`;
  const rss = Math.round(process.memoryUsage.rss() / 1e6);
  const figures = `${String(turns.length).padStart(7)} ${ms(at)} ${longest} | ${ms(work)} | ${ms(gc)} | ${rss}`;
  console.log(`${name.padEnd(44)} ${figures} | ${over}`);
}

async function fill(queue: string, amount: number, own?: (n: number) => object): Promise<void> {
  let stored = 0;
  let wake = (): void => {};
  for (let sent = 1; sent <= amount; sent++) {
    // A part of a page that bodies share, like the JSON of an application and like bodies from a socket.
    const body = Buffer.from(text);
    publisher.publish('', queue, own === undefined || sent === 1 ? properties : { ...properties, ...own(sent) }, body);
    if (sent % inTurn !== 0 && sent !== amount) continue;
    const upTo = sent;
    const noted = (): void => {
      stored = upTo;
      wake();
    };
    if (isDurable) broker.onStored(-1, noted);
    else noted();
    while (stored < sent - window) await new Promise<void>((resolve) => (wake = resolve));
    await turn();
  }
  while (stored < amount) await new Promise<void>((resolve) => (wake = resolve));
}

/** Consumes messages, and acks each one. */
async function drain(queue: string, amount: number, each: (delivery: Delivery) => void): Promise<void> {
  let left = amount;
  const consumer = open((delivery) => {
    each(delivery);
    consumer.ack(delivery.deliveryTag);
    left--;
  });
  consumer.qos(250);
  consumer.consume(queue);
  while (left > 0) await turn();
  consumer.connection.close();
}

async function steady(): Promise<void> {
  const consumed = drain('other', passing, () => undefined);
  await fill('other', passing);
  await consumed;
}

async function order(queue: string, to: string): Promise<void> {
  const headers = { authorization: `Basic ${btoa('guest:guest')}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ vhost: '/', queue, to: { exchange: '', routing_key: to }, rate: 0 });
  const answer = await fetch(`http://127.0.0.1:${http?.port}/api/dlx/redrives`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}

/** The first message has no expiration; all behind it have expired when it goes. */
async function expire(): Promise<void> {
  let wrong = 0;
  const consumed = drain('dead', messages - 1, ({ message }) => {
    if (deathsOf(message)[0]?.reason !== 'expired') wrong++;
  });
  const first = open(() => undefined);
  first.qos(1);
  first.consume('wait');
  await consumed;
  first.connection.close();
  if (wrong > 0) throw new Error(`${wrong} messages without a death`);
}
