import { noProperties } from 'dlx-broker/engine';
import { Broker } from 'smqp';
import { ack, body, embedded, open } from '../peers/engine.js';
import { median, type Workload } from '../workload.js';

const content = body(1024);

/** Milliseconds from a publish to the end of its ack, one at a time. */
function latency(publish: () => void): number {
  const times: number[] = [];
  for (let count = 0; count < 50_000; count++) {
    const start = performance.now();
    publish();
    times.push(performance.now() - start);
  }
  return median(times.slice(10_000));
}

export const w1OneInFlight: Workload = {
  id: 'W1, one in flight',
  title: 'publish to acked, 1 KB, p50',
  unit: 'ms',
  more: 'worse',
  peers: {
    'dlx-broker': () => {
      const { broker, channel } = embedded();
      channel.declareQueue('q');
      open(broker, ack).consume('q');
      return { value: latency(() => channel.publish('', 'q', noProperties, content)) };
    },
    smqp: () => {
      const broker = new Broker();
      broker.assertExchange('x', 'direct');
      broker.assertQueue('q');
      broker.bindQueue('q', 'x', 'q');
      broker.consume('q', (_key, message) => message.ack());
      return { value: latency(() => void broker.publish('x', 'q', content)) };
    },
  },
};
