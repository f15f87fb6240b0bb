import { noProperties } from 'dlx-broker/engine';
import { Broker } from 'smqp';
import { args, body, embedded, open } from '../peers/engine.js';
import { perSecond, type Workload } from '../workload.js';

const content = body(1024);
const rounds = 3;

export const w3: Workload = {
  id: 'W3',
  title: 'reject, dead-letter, consume and ack, 1 KB',
  unit: 'msg/s',
  more: 'better',
  peers: {
    'dlx-broker': () => {
      const { broker, channel } = embedded();
      channel.declareQueue('dead');
      channel.declareQueue('work', {
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' }),
      });
      let dead = 0;
      const consumer = open(broker, (delivery, on) => {
        if (delivery.queue === 'work') return on.reject(delivery.deliveryTag, false);
        dead++;
        on.ack(delivery.deliveryTag);
      });
      consumer.qos(250);
      consumer.consume('work');
      consumer.consume('dead');
      let value = 0;
      for (let round = 0; round < rounds; round++) {
        dead = 0;
        value = perSecond(() => {
          for (let count = 0; count < 200_000; count++) channel.publish('', 'work', noProperties, content);
          return dead;
        });
      }
      return { value, extra: { 'x-death': 'written' } };
    },
    smqp: () => {
      const broker = new Broker();
      broker.assertExchange('x', 'direct');
      broker.assertExchange('dlx', 'direct');
      broker.assertQueue('work', { deadLetterExchange: 'dlx', deadLetterRoutingKey: 'dead' });
      broker.assertQueue('dead');
      broker.bindQueue('work', 'x', 'work');
      broker.bindQueue('dead', 'dlx', 'dead');
      let dead = 0;
      broker.consume('work', (_key, message) => message.reject(false), { prefetch: 250 });
      broker.consume(
        'dead',
        (_key, message) => {
          dead++;
          message.ack();
        },
        { prefetch: 250 },
      );
      let value = 0;
      for (let round = 0; round < rounds; round++) {
        dead = 0;
        value = perSecond(() => {
          for (let count = 0; count < 50_000; count++) broker.publish('x', 'work', content);
          return dead;
        });
      }
      return { value, extra: { 'x-death': 'none' } };
    },
  },
};
