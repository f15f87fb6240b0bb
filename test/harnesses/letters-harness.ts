import { emptyTable, longstr, type Properties } from '../../libs/dlx-broker/src/engine/message/index.js';
import { DeadLetters, type ConsumedLetter } from '../../libs/dlx-broker/src/nest/streams/index.js';
import { harness, type HarnessOptions } from '../../libs/dlx-broker/src/nest/testing/harness.js';

/** Where the letters of {@link lettersHarness} lie. */
export const deadQueue = 'orders.dead';

/**
 * A harness for dead letters: the exchange `shop` with the key `order.created` leads to the queue `orders`; what dies
 * there, or in `invoices` or `expiring` (after 50 ms), comes to `orders.dead`, and from there to `graveyard`.
 */
export async function lettersHarness(options?: HarnessOptions) {
  const { clock, broker, backend, queue } = harness(options);
  const declared = { durable: true, autoDelete: false, arguments: emptyTable };
  const dying = (to: string) => new Map([['x-dead-letter-exchange', longstr(to)]]);
  const exchange = (name: string, type: string) => ({ ...declared, name, type, internal: false });
  const lie = (name: string, args = emptyTable) => ({ ...declared, name, exclusive: false, arguments: args });
  const bound = (source: string, destination: string, routingKey = '') =>
    ({ source, destination, destinationType: 'queue', routingKey, arguments: emptyTable }) as const;
  await backend.declare({
    exchanges: [exchange('shop', 'direct'), exchange('dead', 'fanout'), exchange('deader', 'fanout')],
    queues: [
      lie('orders', dying('dead')),
      lie('invoices', dying('dead')),
      lie('expiring', new Map([...dying('dead'), ['x-message-ttl', { type: 'I', value: 50 } as const]])),
      lie(deadQueue, dying('deader')),
      lie('graveyard'),
      lie('hospital', new Map([['x-max-length', { type: 'I', value: 1_000 } as const]])),
    ],
    bindings: [bound('shop', 'orders', 'order.created'), bound('dead', deadQueue), bound('deader', 'graveyard')],
  });

  const shop = { exchange: 'shop', routingKey: 'order.created' };
  const text: Properties = { contentType: 'text/plain' };
  const publish = (body: string, properties: Properties = {}, to = shop): void =>
    publishBytes({ ...text, ...properties }, Buffer.from(body), to);
  const publishBytes = (properties: Properties, body: Uint8Array, to = shop): void =>
    backend.publish({ ...to, properties, body, mandatory: true }, (failure) => {
      if (failure !== undefined) throw failure;
    });
  /** Rejects everything that waits in a queue. */
  const reject = (name: string): void => {
    const consumption = backend.consume(name, { prefetch: 0 }, (delivery) => delivery.reject());
    consumption.close();
  };

  return {
    clock,
    broker,
    backend,
    queue,
    letters: new DeadLetters(backend),
    publish,
    reject,
    /** Publishes texts to the shop and rejects each in `orders`. */
    die(...bodies: readonly string[]): void {
      for (const body of bodies) publish(body);
      reject('orders');
    },
    dieIn(name: string, body: string): void {
      publish(body, {}, { exchange: '', routingKey: name });
      if (name !== 'expiring') reject(name);
    },
    deadWith(properties: Properties, body: Uint8Array): void {
      publishBytes(properties, body);
      reject('orders');
    },
    /** The first letters of a stream that goes on. */
    take(letters: DeadLetters, count: number, prefetch = 10, name = deadQueue): Promise<ConsumedLetter[]> {
      const taken: ConsumedLetter[] = [];
      letters.from(name, { prefetch }).subscribe((letter) => {
        if (taken.length < count) taken.push(letter);
      });
      return Promise.resolve(taken);
    },
  };
}
