import { noProperties } from 'dlx-broker/engine';
import { Broker } from 'smqp';
import { ack, body, embedded, open } from '../peers/engine.js';
import { perSecond, type Workload } from '../workload.js';

const content = body(1024);
const queues = 100;

export const w7: Workload = {
  id: 'W7',
  title: 'fan-out to 100 queues, delivered and acked, 1 KB',
  unit: 'deliveries/s',
  more: 'better',
  peers: {
    'dlx-broker': () => {
      const { broker, channel } = embedded();
      const consumer = open(broker, ack);
      channel.declareExchange('f', { type: 'fanout' });
      for (let index = 0; index < queues; index++) {
        channel.declareQueue(`q${index}`);
        channel.bindQueue(`q${index}`, 'f', '');
        consumer.consume(`q${index}`);
      }
      const run = (): number => {
        for (let count = 0; count < 10_000; count++) channel.publish('f', '', noProperties, content);
        return 10_000 * queues;
      };
      run();
      return { value: perSecond(run) };
    },
    smqp: () => {
      const broker = new Broker();
      broker.assertExchange('f', 'topic');
      for (let index = 0; index < queues; index++) {
        broker.assertQueue(`q${index}`);
        broker.bindQueue(`q${index}`, 'f', '#');
        broker.consume(`q${index}`, (_key, message) => message.ack());
      }
      const run = (): number => {
        for (let count = 0; count < 2_000; count++) broker.publish('f', 'k', content);
        return 2_000 * queues;
      };
      run();
      return { value: perSecond(run) };
    },
  },
};
