import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WireConnection } from '../contract/wire/connection.js';
import { writeFrame } from '../contract/wire/frames.js';
import { writeMethod } from '../contract/wire/methods.js';
import { frameCorpus } from './frame-corpus.js';
import { type AmqpHouse, amqpHouse } from './harness.js';
import { Mutator } from './mutator.js';
import { amount } from '../amounts.js';

const connections = amount('FUZZ_CONNECTIONS', 400, 10_000);
const seed = Number(process.env['FUZZ_SEED'] ?? 20_260_102);
const faults: unknown[] = [];
let harness: AmqpHouse;
beforeAll(
  async () => void (harness = await amqpHouse({ log: (fault) => faults.push(fault), limits: { silence: 10 } })),
);
afterAll(() => harness.close());

const method = (name: string, args = {}, channel = 0): Buffer => writeFrame(1, channel, writeMethod(name, args));
const opening = Buffer.concat([
  Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]),
  method('connection.start-ok', { mechanism: 'PLAIN', response: '\0guest\0guest', locale: 'en_US' }),
  method('connection.tune-ok', { channelMax: 2047, frameMax: 131_072, heartbeat: 0 }),
  method('connection.open', { vhost: '/' }),
  method('channel.open', {}, 1),
]);

/** One client that sends nonsense until it is thrown out, or has said enough. */
function nonsense(mutator: Mutator, corpus: readonly Buffer[]): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(harness.port, '127.0.0.1');
    socket.on('error', () => undefined).on('close', () => resolve());
    socket.resume();
    const polite = mutator.below(8) > 0;
    if (polite) socket.write(opening);
    for (let count = 0; count < 20; count++)
      for (const piece of mutator.cut(mutator.mutate(corpus))) socket.write(piece);
    socket.end();
  });
}

it(`whatever ${connections} clients send, the listener has no fault of its own and serves others (seed ${seed})`, async () => {
  const otherClient = await WireConnection.open(harness.wire);
  const channel = await otherClient.openChannel();
  await channel.call('queue.declare', { queue: 'otherClient' });
  const mutator = new Mutator(seed);
  const corpus = frameCorpus();
  for (let begun = 0; begun < connections; begun += 20) {
    await Promise.all(Array.from({ length: 20 }, () => nonsense(mutator, corpus)));
    channel.publish({ exchange: '', key: 'otherClient' }, {}, Buffer.from(String(begun)));
    const got = await channel.call('basic.get', { queue: 'otherClient', noAck: true });
    expect(String(got.body)).toBe(String(begun));
  }
  expect(faults).toEqual([]);
  await otherClient.close();
}, 120_000);
