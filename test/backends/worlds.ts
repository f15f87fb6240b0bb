import { EmbeddedBackend, type Backend } from '../../libs/dlx-broker/src/backend/index.js';
import { policyPatterns, randomNames, SystemClock, turnPace } from '../../libs/dlx-broker/src/host/index.js';
import { Broker } from '../../libs/dlx-broker/src/broker/index.js';
import { rabbitMqDriver } from '../contract/rabbitmq-driver.js';
import { ManagementClient } from '../contract/management-client.js';
import { WireBackend } from './wire-backend.js';

/** A broker of either kind, empty. */
export interface World {
  readonly backend: Backend;
  close(): Promise<void>;
}

export interface WorldKind {
  readonly name: string;
  /** Why it cannot be had. */
  unavailable(): Promise<string | undefined>;
  open(): Promise<World>;
}

const embedded: WorldKind = {
  name: 'embedded',
  unavailable: async () => undefined,
  async open() {
    const broker = new Broker({
      clock: new SystemClock(),
      names: randomNames,
      patterns: policyPatterns,
      pace: turnPace,
    });
    const backend = new EmbeddedBackend(broker);
    return {
      backend,
      async close() {
        await backend.close();
        broker.close();
      },
    };
  },
};

const amqpUrl = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
const managementUrl = process.env['RABBITMQ_MANAGEMENT_URL'] ?? 'http://127.0.0.1:15672';
let worlds = 0;

const rabbitMq: WorldKind = {
  name: 'rabbitmq',
  unavailable: () => rabbitMqDriver({ name: 'rabbitmq', amqpUrl, managementUrl }).unavailable(),
  async open() {
    const { hostname: host, port, username, password } = new URL(amqpUrl);
    const [user, secret] = [decodeURIComponent(username) || 'guest', decodeURIComponent(password) || 'guest'];
    const management = new ManagementClient(managementUrl, user, secret);
    const vhost = `backends-${process.pid}-${Date.now().toString(36)}-${++worlds}`;
    await management.call('PUT', `/vhosts/${vhost}`, {});
    await management.call('PUT', `/permissions/${vhost}/${user}`, { configure: '.*', write: '.*', read: '.*' });
    const backend = new WireBackend({ host, port: Number(port) || 5672, user, password: secret, vhost });
    return {
      backend,
      async close() {
        await backend.close();
        await management.call('DELETE', `/vhosts/${vhost}`);
      },
    };
  },
};

/** The same handlers have to do the same on all of them. */
export const worldKinds: readonly WorldKind[] = [embedded, rabbitMq];
