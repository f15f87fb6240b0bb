import { noProperties } from 'dlx-broker/engine';
import { Broker } from 'smqp';
import { args, body, embedded } from '../peers/engine.js';
import { perSecond, type Workload } from '../workload.js';

const content = body(1024);

export const w5: Workload = {
  id: 'W5',
  title: 'length limit 1,000, drop-head into a DLX whose queue holds 1,000, 1 KB',
  unit: 'msg/s',
  more: 'better',
  peers: {
    'dlx-broker': () => {
      const { channel } = embedded();
      channel.declareQueue('dead', { arguments: args({ 'x-max-length': 1_000 }) });
      channel.declareQueue('work', {
        arguments: args({
          'x-max-length': 1_000,
          'x-dead-letter-exchange': '',
          'x-dead-letter-routing-key': 'dead',
        }),
      });
      const run = (): number => {
        for (let count = 0; count < 300_000; count++) channel.publish('', 'work', noProperties, content);
        return 300_000;
      };
      run();
      return { value: perSecond(run) };
    },
    smqp: () => {
      const broker = new Broker();
      broker.assertExchange('x', 'direct');
      broker.assertExchange('dlx', 'direct');
      broker.assertQueue('work', { maxLength: 1_000, deadLetterExchange: 'dlx', deadLetterRoutingKey: 'dead' });
      broker.assertQueue('dead', { maxLength: 1_000 });
      broker.bindQueue('work', 'x', 'work');
      broker.bindQueue('dead', 'dlx', 'dead');
      const run = (): number => {
        for (let count = 0; count < 50_000; count++) broker.publish('x', 'work', content);
        return 50_000;
      };
      run();
      return { value: perSecond(run) };
    },
  },
};
