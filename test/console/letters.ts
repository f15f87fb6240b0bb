import type { Broker, Channel, Properties } from '../../libs/dlx-broker/src/engine.js';
import { int32, longstr } from '../../libs/dlx-broker/src/engine.js';

/** How a message of {@link shop} dies. */
export interface Dead {
  readonly body: string | Uint8Array;
  readonly error?: { readonly class: string; readonly message: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
}

/** A work queue `orders` whose rejected messages come to `orders.dead`. */
export class Shop {
  readonly #channel: Channel;
  readonly broker: Broker;

  constructor(broker: Broker) {
    this.broker = broker;
    this.#channel = channelOf(broker);
    this.#channel.declareExchange('shop', { type: 'direct', durable: true });
    this.queue('orders', { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'orders.dead' });
    this.queue('orders.dead');
    this.#channel.bindQueue('orders', 'shop', 'order.created');
  }

  /** Declares a durable queue with arguments. */
  queue(name: string, values: Readonly<Record<string, string | number>> = {}): void {
    const fields = Object.entries(values).map(
      ([key, value]) => [key, typeof value === 'string' ? longstr(value) : int32(value)] as const,
    );
    this.#channel.declareQueue(name, { durable: true, arguments: new Map(fields) });
  }

  /** Declares a durable exchange. */
  exchange(name: string, type: string): void {
    this.#channel.declareExchange(name, { type, durable: true });
  }

  bind(queue: string, exchange: string, routingKey: string): void {
    this.#channel.bindQueue(queue, exchange, routingKey);
  }

  /** A header table of texts. */
  table(values: Readonly<Record<string, string>>): Properties['headers'] {
    return new Map(Object.entries(values).map(([name, value]) => [name, longstr(value)] as const));
  }

  /** Publishes a message. */
  publish(exchange: string, routingKey: string, body: string | Uint8Array, properties: Properties = {}): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    this.#channel.publish(exchange, routingKey, properties, bytes);
  }

  /** Publishes messages to `orders` and rejects each. */
  die(...letters: readonly Dead[]): void {
    for (const { body, error, headers = {}, contentType = 'application/json' } of letters) {
      const values = {
        ...headers,
        ...(error && { 'dlx-error-class': error.class, 'dlx-error-message': error.message }),
      };
      this.publish('shop', 'order.created', body, { contentType, headers: this.table(values) });
    }
    this.reject('orders');
  }

  /** Rejects everything that is ready in a queue. */
  reject(queue: string): void {
    const channel = this.#channel;
    for (let got = channel.get(queue); got !== undefined; got = channel.get(queue))
      channel.reject(got.deliveryTag, false);
  }

  /** Removes all messages of queues. */
  purge(...queues: readonly string[]): void {
    for (const queue of queues) this.#channel.purgeQueue(queue);
  }

  /** The number of ready messages of a queue. */
  ready(queue: string): number {
    return this.#channel.declareQueue(queue, { passive: true }).messageCount;
  }

  /** The bodies of the ready messages of a queue. */
  bodies(queue: string): string[] {
    const channel = channelOf(this.broker);
    const found: string[] = [];
    for (let got = channel.get(queue); got !== undefined; got = channel.get(queue)) {
      found.push(Buffer.from(got.message.body).toString());
    }
    channel.close();
    return found;
  }
}

function channelOf(broker: Broker): Channel {
  return broker.connect().openChannel({
    deliver() {},
    returned() {},
    confirmed() {},
    cancelled() {},
    closed(error) {
      throw error;
    },
  });
}
