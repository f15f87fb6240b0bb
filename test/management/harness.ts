import { listen, type Listener } from '../../libs/dlx-broker/src/amqp/server/index.js';
import { policyPatterns, randomNames, SystemClock, turnPace } from '../../libs/dlx-broker/src/platform/index.js';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { listenHttp } from '../../libs/dlx-broker/src/server/index.js';
import { Statistics } from '../../libs/dlx-broker/src/server/statistics/statistics.js';
import { guestOf, addUsers } from '../../libs/dlx-broker/src/platform/logins/index.js';
import type { Ground } from './scene.js';

/** A broker of our own in real time, with both of its ports open. */
export interface Harness extends Ground {
  readonly broker: Broker;
  readonly http: string;
  readonly httpPort: number;
  /** Takes the samples that are usually taken every five seconds. */
  sample(): void;
  close(): Promise<void>;
}

/** Compared with a RabbitMQ 3.10. */
export async function openHouse(): Promise<Harness> {
  const broker = new Broker({
    rabbitmq: '3.10',
    clock: new SystemClock(),
    names: randomNames,
    patterns: policyPatterns,
    pace: turnPace,
  });
  addUsers(broker, [guestOf('/')]);
  const amqp: Listener = await listen(broker, { port: 0 });
  const ports = () => [{ protocol: 'amqp', host: amqp.host, port: amqp.port }];
  const statistics = new Statistics(broker, Date.now);
  const host = { broker, now: Date.now, patterns: policyPatterns, ports, statistics };
  const http = await listenHttp(host, { port: 0 });
  return {
    broker,
    amqp: `amqp://guest:guest@127.0.0.1:${amqp.port}`,
    http: `http://127.0.0.1:${http.port}`,
    httpPort: http.port,
    sample: () => statistics.sample(),
    close: async () => {
      await Promise.all([http.close(), amqp.close()]);
      broker.close();
    },
  };
}
