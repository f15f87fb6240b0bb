import { listen, type Listener, type ListenOptions } from '../../libs/dlx-broker/src/amqp/server/index.js';
import { hashPassword } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { randomNames, SystemClock, turnPace } from '../../libs/dlx-broker/src/platform/index.js';
import { policyPatterns } from '../../libs/dlx-broker/src/platform/patterns.js';
import { Broker, type BrokerOptions, type Pace } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { WireOptions } from '../contract/wire/connection.js';

/** A broker in real time with the user guest, and a listener on a free port. It is compared with a RabbitMQ 3.10, so it behaves like one. */
export interface AmqpHouse {
  readonly broker: Broker;
  readonly listener: Listener;
  readonly url: string;
  readonly port: number;
  readonly wire: WireOptions;
  close(): Promise<void>;
}

/** @param pace how long the broker works in one turn; default: as long as in production */
export async function amqpHouse(
  options: ListenOptions = {},
  pace: Pace = turnPace,
  more: Pick<BrokerOptions, 'consumerTimeout' | 'rabbitmq'> = {},
): Promise<AmqpHouse> {
  const broker = new Broker({
    rabbitmq: '3.10',
    clock: new SystemClock(),
    names: randomNames,
    pace,
    patterns: policyPatterns,
    ...more,
  });
  broker.access.setUser('guest', { passwordHash: hashPassword('guest'), tags: ['administrator'] });
  broker.access.setPermissions('guest', '/', { configure: '.*', write: '.*', read: '.*' });
  const listener = await listen(broker, { port: 0, ...options });
  const { port } = listener;
  return {
    broker,
    listener,
    port,
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    wire: { host: '127.0.0.1', port, user: 'guest', password: 'guest', vhost: '/' },
    close: async () => {
      await listener.close();
      broker.close();
    },
  };
}

/** Waits until something holds; a test that waits in vain runs into its own timeout. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}
