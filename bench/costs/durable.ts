import { serve } from 'dlx-broker/server';
import type { Channel } from 'dlx-broker/engine';
import { dataFolder } from '../amqp/data-folder.js';
import { type PropertyKind, propertyKinds } from '../message-properties.js';
import type { Made, Scene } from './scene.js';

const outstanding = 1_000;

/** Publishes with at most so many confirms outstanding, and acks what it consumes. */
class Client {
  readonly channel: Channel;
  #confirmed = 0;
  #left = 0;
  #wake: () => void = () => undefined;

  constructor(connect: {
    openChannel(outbox: Parameters<import('dlx-broker/engine').Connection['openChannel']>[0]): Channel;
  }) {
    this.channel = connect.openChannel({
      deliver: ({ deliveryTag }) => {
        this.channel.ack(deliveryTag);
        if (--this.#left === 0) this.#wake();
      },
      returned() {},
      confirmed: (tag, _multiple, ok) => {
        if (!ok) throw new Error(`publish ${tag} was refused`);
        this.#confirmed = tag;
        this.#wake();
      },
      cancelled() {},
      closed(error) {
        throw error;
      },
    });
    this.channel.declareQueue('q', { durable: true });
    this.channel.confirmSelect();
  }

  async publish(count: number, kind: PropertyKind): Promise<void> {
    for (let sent = 1; sent <= count; sent++) {
      this.channel.publish('', 'q', { deliveryMode: 2, ...propertyKinds[kind]() }, Buffer.alloc(1_024, 'x'));
      if (sent % outstanding !== 0 && sent !== count) continue;
      while (this.#confirmed < sent) await this.#next();
    }
  }

  async drain(count: number): Promise<void> {
    this.#left = count;
    this.channel.qos(250);
    this.channel.consume('q');
    while (this.#left > 0) await this.#next();
  }

  #next(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}

/** A queue on disk, of a server that keeps 4 MB of bodies in memory. */
const waiting = (thing: string, details: string, kind: PropertyKind): Scene => ({
  thing,
  details,
  count: 200_000,
  async open(): Promise<Made> {
    const { folder, remove } = dataFolder('costs');
    const amqp = { host: '127.0.0.1', port: 0 };
    const { broker, close } = await serve({ amqp, data: { directory: folder, durability: 'os', memory: 4_000_000 } });
    const client = new Client(broker.connect());
    let made = 0;
    return {
      make: (count) => client.publish((made = count), kind),
      remove: () => client.drain(made),
      close: () => close().finally(remove),
    };
  },
});

export const durable: readonly Scene[] = [
  waiting(
    'message, waiting, durable, 1 KB',
    'with a data directory and 4 MB for bodies in memory; a confirm each, its share of the disk included',
    'alike',
  ),
  waiting('message, waiting, durable, with an id', 'the same; each has a UUID as message id, and a timestamp', 'ids'),
  waiting(
    'message, waiting, durable, with a header',
    'the same with an id; each also has a header of 55 bytes of its own',
    'headers',
  ),
];
