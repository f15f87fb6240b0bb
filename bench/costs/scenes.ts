import { noProperties } from 'dlx-broker/engine';
import { args, embedded, open } from '../peers/engine.js';
import { durable } from './durable.js';
import type { Scene } from './scene.js';

const each = (count: number, step: (index: number) => void): void => {
  for (let index = 0; index < count; index++) step(index);
};
const quiet = { deliver() {}, returned() {}, confirmed() {}, cancelled() {}, closed() {} };
const channelsOfConnection = 100;

/** Messages of one queue that wait. They are removed by a consumer that acks each. */
const waiting = (thing: string, details: string, size: number, count: number): Scene => ({
  thing,
  details,
  count,
  open() {
    const { broker, channel } = embedded();
    channel.declareQueue('q');
    return {
      make: (wanted) => each(wanted, () => channel.publish('', 'q', noProperties, Buffer.alloc(size, 'x'))),
      remove() {
        const consumer = open(broker, ({ deliveryTag }, on) => on.ack(deliveryTag));
        consumer.qos(250);
        consumer.consume('q');
      },
    };
  },
});

/** Everything whose cost is on the page, in its order. */
export const scenes: readonly Scene[] = [
  {
    thing: 'connection',
    details: 'in the process, without a channel or a socket',
    count: 100_000,
    open() {
      const { broker } = embedded();
      const made: { close(): void }[] = [];
      return {
        make: (count) => each(count, () => void made.push(broker.connect())),
        remove: () => made.forEach((connection) => connection.close()),
      };
    },
  },
  {
    thing: 'channel',
    details: `${channelsOfConnection} on each connection`,
    count: 100_000,
    open() {
      const { broker } = embedded();
      const made: { close(): void }[] = [];
      let connection = broker.connect();
      return {
        make: (count) =>
          each(count, (index) => {
            if (index % channelsOfConnection === 0) connection = broker.connect();
            made.push(connection.openChannel(quiet));
          }),
        remove: () => made.forEach((channel) => channel.close()),
      };
    },
  },
  {
    thing: 'queue',
    details: 'classic, transient, empty',
    count: 100_000,
    open() {
      const { channel } = embedded();
      let made = 0;
      return {
        make: (count) => each((made = count), (index) => channel.declareQueue(`q${index}`)),
        remove: () => each(made, (index) => channel.deleteQueue(`q${index}`)),
      };
    },
  },
  {
    thing: 'queue with a dead-letter exchange',
    details: 'the same with two arguments',
    count: 100_000,
    open() {
      const { channel } = embedded();
      let made = 0;
      return {
        make: (count) =>
          each((made = count), (index) => {
            const toDead = args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' });
            channel.declareQueue(`q${index}`, { arguments: toDead });
          }),
        remove: () => each(made, (index) => channel.deleteQueue(`q${index}`)),
      };
    },
  },
  {
    thing: 'exchange',
    details: 'direct, without bindings',
    count: 100_000,
    open() {
      const { channel } = embedded();
      let made = 0;
      return {
        make: (count) => each((made = count), (index) => channel.declareExchange(`e${index}`, { type: 'direct' })),
        remove: () => each(made, (index) => channel.deleteExchange(`e${index}`)),
      };
    },
  },
  ...(['direct', 'topic'] as const).map((type): Scene => {
    const keyOf = (index: number): string => (type === 'direct' ? `k${index}` : `orders.${index}.*`);
    return {
      thing: `binding, ${type}`,
      details:
        type === 'direct'
          ? 'each with a key of its own, of one queue'
          : 'each with a pattern of three words, of one queue',
      count: 100_000,
      open() {
        const { channel } = embedded();
        channel.declareExchange('e', { type });
        channel.declareQueue('q');
        let made = 0;
        return {
          make: (count) => each((made = count), (index) => channel.bindQueue('q', 'e', keyOf(index))),
          remove: () => each(made, (index) => channel.unbindQueue('q', 'e', keyOf(index))),
        };
      },
    };
  }),
  {
    thing: 'consumer',
    details: '100 on each queue',
    count: 100_000,
    open() {
      const { channel } = embedded();
      let made: string[] = [];
      return {
        make(count) {
          each(count / 100, (index) => void channel.declareQueue(`q${index}`));
          made = Array.from({ length: count }, (_, index) => channel.consume(`q${index % (count / 100)}`));
        },
        remove: () => made.forEach((tag) => channel.cancel(tag)),
      };
    },
  },
  {
    thing: 'policy',
    details: 'of one virtual host with 100 queues, each policy for other queues',
    count: 500,
    open() {
      const { broker, channel } = embedded();
      each(100, (index) => void channel.declareQueue(`q${index}`));
      const host = broker.virtualHost('/');
      let made = 0;
      return {
        make: (count) =>
          each((made = count), (index) =>
            host.setPolicy(`p${index}`, { pattern: `^x${index}\\.`, definition: { 'max-length': 10 } }),
          ),
        remove: () => each(made, (index) => host.deletePolicy(`p${index}`)),
      };
    },
  },
  waiting('message, waiting, 16 bytes', 'transient, without properties, its body included', 16, 500_000),
  waiting('message, waiting, 1 KB', 'the same with 1,024 bytes', 1_024, 200_000),
  {
    thing: 'message, unacknowledged, 16 bytes',
    details: 'delivered to one consumer; removed by one ack up to the last tag',
    count: 500_000,
    open() {
      const { broker, channel } = embedded();
      channel.declareQueue('q');
      let last = 0;
      const consumer = open(broker, ({ deliveryTag }) => void (last = deliveryTag));
      consumer.consume('q');
      return {
        make: (count) => each(count, () => channel.publish('', 'q', noProperties, Buffer.alloc(16, 'x'))),
        remove: () => consumer.ack(last, true),
      };
    },
  },
  {
    thing: 'dead letter, waiting, 16 bytes',
    details: 'published, delivered and rejected; it waits with its death in a dead-letter queue',
    count: 500_000,
    open() {
      const { broker, channel } = embedded();
      channel.declareQueue('dead');
      channel.declareQueue('q', {
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' }),
      });
      open(broker, ({ deliveryTag }, on) => on.reject(deliveryTag, false)).consume('q');
      return {
        make: (count) => each(count, () => channel.publish('', 'q', noProperties, Buffer.alloc(16, 'x'))),
        remove() {
          const consumer = open(broker, ({ deliveryTag }, on) => on.ack(deliveryTag));
          consumer.qos(250);
          consumer.consume('dead');
        },
      };
    },
  },
  {
    thing: 'message, waiting, with an expiration',
    details: '16 bytes, and an hour of its own',
    count: 500_000,
    open() {
      const { broker, channel } = embedded();
      channel.declareQueue('q');
      return {
        make: (count) => each(count, () => channel.publish('', 'q', { expiration: '3600000' }, Buffer.alloc(16, 'x'))),
        remove() {
          const consumer = open(broker, ({ deliveryTag }, on) => on.ack(deliveryTag));
          consumer.qos(250);
          consumer.consume('q');
        },
      };
    },
  },
  ...durable,
];
