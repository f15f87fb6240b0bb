import { ids, method, octet, publish, short, shortstr, table } from './amqp/frames.js';
import { LeanClient } from './amqp/lean-client.js';
import { bodyOf } from './amqp/scene.js';
import { until } from './amqp/measure.js';
import { startOurs } from './amqp/servers.js';
import { memoryOf } from './amqp/target.js';
import { endWithHelp } from './usage.js';

endWithHelp(`node dist/bench/memory-of-objects.js

Bytes in use in 'serve' for each channel, consumer, binding, waiting and unacknowledged message, after a garbage collection. Connections and queues have
programs of their own: idle-connections and many-queues.`);

const { target, close } = await startOurs();
const clients: LeanClient[] = [];

async function client(): Promise<LeanClient> {
  const opened = await LeanClient.connect(target);
  clients.push(opened);
  return opened;
}

/** @param make makes so many objects */
async function measure(
  name: string,
  count: number,
  make: (from: number, to: number) => Promise<unknown>,
): Promise<void> {
  const warm = count / 20;
  await make(0, warm); // so that the memory of compiled code and of first objects is not counted
  const before = (await memoryOf(target)) as number;
  await make(warm, warm + count);
  const after = (await memoryOf(target)) as number;
  console.log(`${name}: ${((after - before) / count).toFixed(0)} bytes each, of ${count}`);
}

/** Requests with answers, all at once. */
const all = (from: number, to: number, request: (index: number) => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: to - from }, (_, index) => request(from + index)));

/** Channels of a connection. */
const perConnection = 2_000;
const owners: LeanClient[] = [];
for (let index = 0; index < 11; index++) owners.push(await client());
const ownerOf = (index: number): LeanClient => owners[Math.floor(index / perConnection)] as LeanClient;
const channelOf = (index: number): number => 2 + (index % perConnection);

await measure('a channel', 10_000, (from, to) =>
  all(from, to, (index) => ownerOf(index).call(method(channelOf(index), ids.channelOpen, octet(0)), ids.channelOpenOk)),
);

const first = await client();
await first.declareQueue('objects');
const consume = (index: number): Buffer =>
  method(channelOf(index), ids.basicConsume, short(0), shortstr('objects'), shortstr(''), octet(0), table({}));
await measure('a consumer', 10_000, (from, to) =>
  all(from, to, (index) => ownerOf(index).call(consume(index), ids.basicConsumeOk)),
);

await first.declareExchange('objects-direct', 'direct');
await first.declareQueue('objects-bound');
await measure('a binding of a direct exchange', 20_000, (from, to) =>
  all(from, to, (index) => first.bindQueue('objects-bound', 'objects-direct', `key-${index}`)),
);
await first.declareExchange('objects-topic', 'topic');
await measure('a binding of a topic exchange, three words', 20_000, (from, to) =>
  all(from, to, (index) => first.bindQueue('objects-bound', 'objects-topic', `orders.${index}.*`)),
);

const sent = (count: number, queue: string): Buffer =>
  Buffer.concat(new Array<Buffer>(count).fill(publish('', queue, bodyOf(16))));
await first.declareQueue('objects-waiting');
await measure('a waiting message of 16 bytes', 100_000, async (from, to) => {
  first.write(sent(to - from, 'objects-waiting'));
  await until(async () => (await first.waiting('objects-waiting')) === to);
});

await first.declareQueue('objects-unacked');
const consumer = await client();
let arrived = 0;
consumer.onDelivered = (_, to) => void (arrived = to);
await consumer.consume('objects-unacked', 65_535);
await measure('an unacknowledged message of 16 bytes', 50_000, async (from, to) => {
  first.write(sent(to - from, 'objects-unacked'));
  await until(() => arrived === to);
});

for (const each of clients) await each.close();
await close();
