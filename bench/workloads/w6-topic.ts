import { type Channel, noProperties } from 'dlx-broker/engine';
import { Broker } from 'smqp';
import { ack, body, embedded, open } from '../peers/engine.js';
import { perSecond, type Workload } from '../workload.js';

const content = body(1024);
const keys = Array.from({ length: 1_000 }, (_, index) => `orders.region${index % 97}.${index}.created`);

/** Patterns. Only the first one matches a key. */
const patterns = (count: number): string[] => [
  'orders.*.#',
  ...Array.from({ length: count - 1 }, (_, index) => `shipments.*.${index}.#`),
];

function publishing(bindings: number): number {
  const { broker, channel } = embedded();
  const consumer: Channel = open(broker, ack);
  channel.declareExchange('t', { type: 'topic' });
  channel.declareQueue('q');
  for (const pattern of patterns(bindings)) channel.bindQueue('q', 't', pattern);
  consumer.consume('q');
  const run = (): number => {
    for (let count = 0; count < 300_000; count++) {
      channel.publish('t', keys[count % keys.length] as string, noProperties, content);
    }
    return 300_000;
  };
  run();
  return perSecond(run);
}

export const w6: Workload = {
  id: 'W6',
  title: 'topic publish with 10,000 bindings, delivered and acked, 1 KB',
  unit: 'msg/s',
  more: 'better',
  peers: {
    'dlx-broker': () => {
      const many = publishing(10_000);
      const few = publishing(10);
      return { value: many, extra: { 'cost with 10,000 / with 10': (few / many).toFixed(2) } };
    },
    smqp: () => {
      const broker = new Broker();
      broker.assertExchange('t', 'topic');
      broker.assertQueue('q');
      for (const pattern of patterns(10_000)) broker.bindQueue('q', 't', pattern);
      broker.consume('q', (_key, message) => message.ack());
      const run = (): number => {
        for (let count = 0; count < 1_000; count++) broker.publish('t', keys[count % keys.length] as string, content);
        return 1_000;
      };
      run();
      return { value: perSecond(run) };
    },
  },
};
