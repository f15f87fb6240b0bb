import { EmbeddedBackend, type Backend } from '../../libs/dlx-broker/src/backends/index.js';
import { openRabbitMq, type RabbitMqLog } from '../../libs/dlx-broker/src/backends/rabbitmq/open.js';
import { policyPatterns, randomNames, SystemClock, turnPace } from '../../libs/dlx-broker/src/platform/index.js';
import { Broker, silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { serve } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { ManagementClient } from '../contract/management-client.js';
import { managementUrl } from '../rabbitmq.js';
import { realServerIsMissing, realVhost } from './real-vhost.js';
import { WireBackend } from './wire-backend.js';

/** A broker of either kind, empty. */
export interface World {
  readonly backend: Backend;
  /** Where other clients reach it. */
  readonly url?: string;
  /** Makes a user with rights in the virtual host; the user goes with the world. */
  permit?(user: string, password: string, rights: Readonly<Record<string, string>>): Promise<unknown>;
  /** The management API, as an operator uses it. */
  readonly management?: { readonly url: string; readonly client: ManagementClient; readonly vhost: string };
  /** Deletes a queue, as an operator does. */
  deleteQueue(queue: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface WorldKind {
  readonly name: string;
  /** Why it cannot be had. */
  unavailable(): Promise<string | undefined>;
  open(): Promise<World>;
}

/** Opens a world, and connects to it. @param ends gets the function that closes the world */
export async function connectedTo(kind: WorldKind, ends: (() => unknown)[]): Promise<Backend> {
  const world = await kind.open();
  ends.push(() => world.close());
  await world.backend.connect();
  return world.backend;
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
      deleteQueue: async (queue) => broker.connect().openChannel(silentOutbox).deleteQueue(queue),
      async close() {
        await backend.close();
        broker.close();
      },
    };
  },
};

/** What a backend warns of fails no test, but a fault does. */
const loud: RabbitMqLog = {
  warn: () => undefined,
  fault: (error) => {
    throw error;
  },
};

const wire: WorldKind = {
  name: 'rabbitmq, by a plain client',
  unavailable: realServerIsMissing,
  async open() {
    const { host, port, user, password, vhost, management, remove } = await realVhost();
    const backend = new WireBackend({ host, port, user, password, vhost });
    return {
      backend,
      deleteQueue: (queue) => management.call('DELETE', `/queues/${vhost}/${encodeURIComponent(queue)}`),
      async close() {
        await backend.close();
        await remove();
      },
    };
  },
};

const rabbitMq: WorldKind = {
  name: 'rabbitmq()',
  unavailable: realServerIsMissing,
  async open() {
    const { url: urls, vhost, management, remove } = await realVhost();
    const users: string[] = [];
    const backend = openRabbitMq({ urls, ...quick }, loud);
    return {
      backend,
      url: urls,
      management: { url: managementUrl, client: management, vhost },
      permit: async (user, password, rights) => {
        await management.call('PUT', `/users/${user}`, { password, tags: '' });
        users.push(user);
        await management.call('PUT', `/permissions/${vhost}/${user}`, rights);
      },
      deleteQueue: (queue) => management.call('DELETE', `/queues/${vhost}/${encodeURIComponent(queue)}`),
      async close() {
        await backend.close();
        for (const user of users) await management.call('DELETE', `/users/${user}`);
        await remove();
      },
    };
  },
};

const served: WorldKind = {
  name: 'rabbitmq() on dlx-broker serve',
  unavailable: async () => undefined,
  async open() {
    const server = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 } });
    const urls = `amqp://127.0.0.1:${server.amqp.port}`;
    const api = `http://127.0.0.1:${server.http!.port}`;
    const backend = openRabbitMq({ urls, ...quick }, loud);
    return {
      backend,
      url: urls,
      management: { url: api, client: new ManagementClient(api, 'guest', 'guest'), vhost: '/' },
      deleteQueue: async (queue) => server.broker.connect().openChannel(silentOutbox).deleteQueue(queue),
      async close() {
        await backend.close();
        await server.close();
      },
    };
  },
};

/** Failures come sooner than by default. */
const quick = { publishTimeout: '5s', declareTimeout: '5s', startAttempts: 3 } as const;

/** The same handlers have to do the same on all of them. */
export const worldKinds: readonly WorldKind[] = [embedded, wire, rabbitMq, served];

/** Those that `rabbitmq()` connects to. */
export const serverKinds: readonly WorldKind[] = [rabbitMq, served];
