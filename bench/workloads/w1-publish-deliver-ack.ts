import { noProperties } from 'dlx-broker/engine';
import { Broker } from 'smqp';
import { ack, body, embedded, open } from '../peers/engine.js';
import { perSecond, type Workload } from '../workload.js';

const content = body(1024);
const prefetch = 250;
const rounds = 3;

/** The last of several rounds, so that every peer is measured compiled. */
function warm(run: () => number): number {
  let rate = 0;
  for (let round = 0; round < rounds; round++) rate = perSecond(run);
  return rate;
}

export const w1: Workload = {
  id: 'W1',
  title: 'publish, deliver, ack, 1 KB',
  unit: 'msg/s',
  more: 'better',
  peers: {
    'dlx-broker': () => {
      const { broker, channel } = embedded();
      const consumer = open(broker, ack);
      channel.declareQueue('q');
      consumer.qos(prefetch);
      consumer.consume('q');
      const value = warm(() => {
        for (let count = 0; count < 500_000; count++) channel.publish('', 'q', noProperties, content);
        return 500_000;
      });
      return { value };
    },
    smqp: () => {
      const broker = new Broker();
      broker.assertExchange('x', 'direct');
      broker.assertQueue('q');
      broker.bindQueue('q', 'x', 'q');
      broker.consume('q', (_key, message) => message.ack(), { prefetch });
      const value = warm(() => {
        for (let count = 0; count < 200_000; count++) broker.publish('x', 'q', content);
        return 200_000;
      });
      return { value };
    },
  },
};
