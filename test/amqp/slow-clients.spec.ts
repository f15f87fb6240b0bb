import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { defaultLimits } from '../../libs/dlx-broker/src/amqp/server/limits.js';
import { WireConnection } from '../contract/wire/connection.js';
import { writeFrame } from '../contract/wire/frames.js';
import { writeMethod } from '../contract/wire/methods.js';
import { type AmqpHouse, amqpHouse } from './harness.js';

const clients = 300;
const harnesses: AmqpHouse[] = [];
afterEach(() => Promise.all(harnesses.splice(0).map((harness) => harness.close())));

const handshake = Buffer.concat([
  Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]),
  writeFrame(1, 0, writeMethod('connection.start-ok', { mechanism: 'PLAIN', response: '\0guest\0guest', locale: 'x' })),
]);

/** A client that goes through the handshake a byte at a time, as long as it may. */
class Dribbler {
  readonly socket: Socket;
  readonly ended: Promise<void>;
  /** Milliseconds it was let be. */
  lasted = 0;
  #sent = 0;

  constructor(port: number) {
    const begun = performance.now();
    this.socket = connect(port, '127.0.0.1').on('error', () => undefined);
    this.socket.resume();
    this.ended = new Promise((resolve) =>
      this.socket.once('close', () => {
        this.lasted = performance.now() - begun;
        resolve();
      }),
    );
  }

  /** The next byte; never the last one. */
  dribble(): void {
    if (this.#sent < handshake.length - 1 && this.socket.writable)
      this.socket.write(handshake.subarray(this.#sent, ++this.#sent));
  }
}

/** Hundreds of them dribble while one well-behaved client publishes and gets. @returns how often it did, and how slow ones fared */
async function siege(harness: AmqpHouse): Promise<{ served: number; lasted: number[] }> {
  harnesses.push(harness);
  const otherClient = await WireConnection.open(harness.wire);
  const channel = await otherClient.openChannel();
  await channel.call('queue.declare', { queue: 'otherClient' });
  const dribblers = Array.from({ length: clients }, () => new Dribbler(harness.port));
  let besieged = true;
  void Promise.all(dribblers.map(({ ended }) => ended)).then(() => (besieged = false));
  let served = 0;
  let next = 0;
  while (besieged) {
    // A tenth of them say a byte, then the otherClient goes on: so many of its messages per byte, however fast the machine is.
    for (let count = 0; count < clients / 10; count++) dribblers[next++ % clients]?.dribble();
    for (let count = 0; count < 5; count++) {
      const body = String(served);
      channel.publish({ exchange: '', key: 'otherClient' }, {}, Buffer.from(body));
      const got = await channel.call('basic.get', { queue: 'otherClient', noAck: true });
      expect(String(got.body)).toBe(body);
      served += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // Only the connection of the other client is left.
  expect(harness.listener.connections.size).toBe(1);
  await otherClient.close();
  return { served, lasted: dribblers.map((dribbler) => dribbler.lasted) };
}

describe(`${clients} clients that dribble their handshake`, () => {
  it('are disconnected when their time is over, whatever they say, while another client is served', async () => {
    const { served, lasted } = await siege(await amqpHouse({ limits: { handshake: 2_000 } }));
    // No client is disconnected early; the loop waits until all have ended.
    expect(Math.min(...lasted)).toBeGreaterThan(1_900);
    expect(served).toBeGreaterThan(0);
    expect(defaultLimits.handshake).toBe(10_000); // as in RabbitMQ
  }, 60_000);
});

describe('clients that dribble frames after their handshake', () => {
  it('delay no other client: frames of hundreds of them arrive a byte at a time', async () => {
    const harness = await amqpHouse();
    harnesses.push(harness);
    const connections = await Promise.all(Array.from({ length: 200 }, () => WireConnection.open(harness.wire)));
    const channels = await Promise.all(connections.map((connection) => connection.openChannel()));
    const otherClient = await (await WireConnection.open(harness.wire)).openChannel();
    await otherClient.call('queue.declare', { queue: 'slow' });
    const frame = writeFrame(1, 1, writeMethod('basic.get', { queue: 'slow', noAck: true }));
    for (const byte of frame.subarray(0, -1)) {
      for (const connection of connections) connection.write(Buffer.from([byte]));
      otherClient.publish({ exchange: '', key: 'slow' }, {}, Buffer.from([byte]));
      const got = await otherClient.call('basic.get', { queue: 'slow', noAck: true });
      expect(got.body).toEqual(Buffer.from([byte]));
    }
    // The rest of the frame comes with the next one: its answer is the second.
    const answers = connections.map((connection, index) => {
      connection.write(frame.subarray(-1));
      return channels[index]?.call('queue.declare', { queue: 'slow', passive: true });
    });
    expect((await Promise.all(answers)).map((answer) => answer?.name)).toEqual(
      connections.map(() => 'basic.get-empty'),
    );
    for (const connection of connections) connection.drop();
  }, 30_000);
});
