import { setTimeout as wait } from 'node:timers/promises';
import type { RabbitMqAddress } from '../rabbitmq.js';
import type { ChannelRecord } from './channel-record.js';
import type { Driver, Received, Session, TestChannel, TestConnection, TestPermissions, TestPolicy } from './driver.js';
import { Failure } from './failure.js';
import { ManagementClient, policyBody } from './management-client.js';
import { plainNames } from './plain-names.js';
import { RabbitMqChannel, received } from './rabbitmq-channel.js';
import type { WireChannel } from './wire/channel.js';
import { WireConnection, type WireOptions } from './wire/connection.js';

/** A real RabbitMQ. */
export function rabbitMqDriver(options: RabbitMqAddress): Driver {
  const url = new URL(options.amqpUrl ?? 'amqp://127.0.0.1');
  const user = decodeURIComponent(url.username) || 'guest';
  const password = decodeURIComponent(url.password) || 'guest';
  const server = { host: url.hostname, port: Number(url.port) || 5672, user, password };
  const management = new ManagementClient(options.managementUrl, user, password);
  let sessions = 0;
  return {
    name: 'rabbitmq',
    profile: options.profile,
    realTime: true,
    speaksAmqp: true,
    async unavailable() {
      if (options.amqpUrl === undefined) return options.notNamed;
      try {
        await management.call('GET', '/overview');
        const connection = await WireConnection.open({ ...server, vhost: '/' });
        await connection.close();
        return undefined;
      } catch (error) {
        return `${options.amqpUrl} and ${options.managementUrl}: ${String(error)}`;
      }
    },
    async open() {
      sessions += 1;
      const vhost = `contract-${process.pid}-${Date.now().toString(36)}-${sessions}`;
      await management.call('PUT', `/vhosts/${vhost}`, {});
      await management.call('PUT', `/permissions/${vhost}/${user}`, { configure: '.*', write: '.*', read: '.*' });
      return new RabbitMqSession(vhost, server, management);
    },
  };
}

interface Server {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

class RabbitMqSession implements Session {
  readonly begun = Date.now();
  readonly wire: WireOptions;
  readonly #vhost: string;
  readonly #server: Server;
  readonly #management: ManagementClient;
  readonly #connections: WireConnection[] = [];
  readonly #records: ChannelRecord[] = [];
  readonly #users = new Set<string>();
  /** Queues whose counts tell whether all is quiet. */
  readonly watched = new Set<string>();
  hasQuorumQueues = false;
  #first: Promise<WireConnection> | undefined;
  #observer: Promise<WireConnection> | undefined;
  #probe: WireChannel | undefined;

  constructor(vhost: string, server: Server, management: ManagementClient) {
    this.#vhost = vhost;
    this.#server = server;
    this.wire = { ...server, vhost };
    this.#management = management;
  }

  async connect(options: { user?: string; vhost?: string } = {}): Promise<TestConnection> {
    const connection = await this.#open(options);
    return { channel: () => this.#channel(connection), close: () => connection.close() };
  }

  async channel(): Promise<TestChannel> {
    return this.#channel(await (this.#first ??= this.#open()));
  }

  async drain(queue: string): Promise<Received[]> {
    await this.settle();
    const channel = await (await (this.#observer ??= this.#open())).openChannel();
    const messages: Received[] = [];
    for (;;) {
      const answer = await channel.call('basic.get', { queue, noAck: true });
      if (answer.name === 'basic.get-empty') break;
      messages.push(received(answer));
    }
    await channel.call('channel.close', {});
    return messages;
  }

  async elapse(milliseconds: number): Promise<void> {
    await wait(milliseconds + 20);
    await this.settle();
  }

  /** Asks all queues for their counts until nothing changes any more: asking also waits for what was sent before. */
  async settle(): Promise<void> {
    const [needed, pause] = this.hasQuorumQueues ? [5, 25] : [3, 12];
    let last = '';
    for (let equal = 0, polls = 0; equal < needed && polls < 200; polls += 1) {
      const now = await this.#signature();
      equal = now === last ? equal + 1 : 0;
      last = now;
      await wait(pause);
    }
  }

  now(): number {
    return Date.now();
  }

  plain(text: string): string {
    let plain = text
      .replaceAll(`'${this.#vhost}'`, "'V'")
      .replaceAll(`<<"${this.#vhost}">>`, '<<"V">>')
      .replaceAll(`vhost ${this.#vhost}`, 'vhost V');
    for (const user of this.#users) plain = plain.replaceAll(this.#userName(user), user);
    return plainNames(plain);
  }

  setPolicy(name: string, policy: TestPolicy): Promise<void> {
    if ('expires' in policy.definition) this.watched.clear(); // as in declareQueue
    return this.#administer('PUT', `/policies/${this.#vhost}/${name}`, policyBody(policy));
  }

  clearPolicy(name: string): Promise<void> {
    return this.#administer('DELETE', `/policies/${this.#vhost}/${name}`);
  }

  setOperatorPolicy(name: string, policy: TestPolicy): Promise<void> {
    return this.#administer('PUT', `/operator-policies/${this.#vhost}/${name}`, policyBody(policy));
  }

  clearOperatorPolicy(name: string): Promise<void> {
    return this.#administer('DELETE', `/operator-policies/${this.#vhost}/${name}`);
  }

  async addUser(name: string, permissions?: TestPermissions): Promise<void> {
    this.#users.add(name);
    const user = this.#userName(name);
    await this.#management.call('PUT', `/users/${user}`, { password: 'secret', tags: '' });
    if (permissions !== undefined)
      await this.#management.call('PUT', `/permissions/${this.#vhost}/${user}`, permissions);
  }

  async limitUser(name: string, limits: Readonly<Record<string, number>>): Promise<void> {
    for (const [limit, value] of Object.entries(limits)) {
      await this.#management.call('PUT', `/user-limits/${this.#userName(name)}/${limit}`, { value });
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
    await this.#management.call('DELETE', `/vhosts/${this.#vhost}`);
    for (const user of this.#users) await this.#management.call('DELETE', `/users/${this.#userName(user)}`);
  }

  /** A policy reaches the queues a moment after it is set. */
  async #administer(method: string, path: string, body?: unknown): Promise<void> {
    await this.#management.call(method, path, body);
    await this.elapse(60);
  }

  #userName(name: string): string {
    return `${this.#vhost}-${name}`;
  }

  async #open(options: { user?: string; vhost?: string } = {}): Promise<WireConnection> {
    const login = options.user === undefined ? {} : { user: this.#userName(options.user), password: 'secret' };
    const vhost = options.vhost ?? this.#vhost;
    const connection = await WireConnection.open({ ...this.#server, ...login, vhost }).catch((error: unknown) => {
      throw this.plainFailure(error);
    });
    this.#connections.push(connection);
    return connection;
  }

  async #channel(connection: WireConnection): Promise<TestChannel> {
    const channel = new RabbitMqChannel(await connection.openChannel(), this);
    this.#records.push(channel.record);
    return channel;
  }

  async #signature(): Promise<string> {
    const counts: (number | string)[] = this.#records.map((record) => record.arrived);
    for (const queue of this.watched) {
      if (this.#probe === undefined || this.#probe.failure !== undefined)
        this.#probe = await (await (this.#observer ??= this.#open())).openChannel();
      try {
        const { args } = await this.#probe.call('queue.declare', { queue, passive: true });
        counts.push(args['messageCount'] as number);
      } catch {
        this.watched.delete(queue);
        counts.push('gone');
      }
    }
    return counts.join();
  }

  plainFailure(error: unknown): unknown {
    if (!(error instanceof Failure)) return error;
    return new Failure(error.code, this.plain(error.text), error.classId, error.methodId, error.closes);
  }
}
