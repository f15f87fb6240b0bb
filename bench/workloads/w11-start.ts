import { execFileSync } from 'node:child_process';
import { median, type Workload } from '../workload.js';

const firstMessage = `
  import { createBroker, noProperties } from 'dlx-broker/engine';
  const broker = createBroker();
  const channel = broker.connect().openChannel({
    deliver({ deliveryTag }) { channel.ack(deliveryTag); },
    returned() {}, confirmed() {}, cancelled() {}, closed() {},
  });
  channel.declareQueue('q');
  channel.consume('q');
  channel.publish('', 'q', noProperties, Buffer.from('first'));
  broker.close();
`;

/** Milliseconds of a whole process, the median of nine. */
function processTime(program: string): number {
  const times: number[] = [];
  for (let run = 0; run < 9; run++) {
    const start = performance.now();
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
    times.push(performance.now() - start);
  }
  return median(times);
}

export const w11: Workload = {
  id: 'W11',
  title: 'a process from its start to its end, with a first message in between',
  unit: 'ms',
  more: 'worse',
  peers: {
    'dlx-broker': () => ({ value: processTime(firstMessage) }),
    smqp: () => ({
      value: processTime(`
        import { Broker } from 'smqp';
        const broker = new Broker();
        broker.assertExchange('x', 'direct');
        broker.assertQueue('q');
        broker.bindQueue('q', 'x', 'q');
        broker.consume('q', (_key, message) => message.ack());
        broker.publish('x', 'q', Buffer.from('first'));
      `),
    }),
    'node alone': () => ({ value: processTime('') }),
  },
};
