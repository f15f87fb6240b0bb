import type { TestChannel, TestPolicy } from '../contract/driver.js';
import { ManagementClient } from '../contract/management-client.js';
import { plainNames } from '../contract/plain-names.js';
import { RabbitMqChannel, type ListenerContext } from '../contract/rabbitmq-channel.js';
import { Failure } from '../contract/failure.js';
import { WireConnection } from '../contract/wire/connection.js';
import { setTimeout as wait } from 'node:timers/promises';
import type { RabbitMqAddress } from '../rabbitmq.js';
import type { Ground } from './world.js';

/** The addresses of the real broker. */
export class RabbitMqServer {
  readonly #url: URL;
  readonly user: string;
  readonly password: string;
  readonly management: ManagementClient;

  constructor(readonly address: RabbitMqAddress) {
    this.#url = new URL(address.amqpUrl ?? 'amqp://127.0.0.1');
    this.user = decodeURIComponent(this.#url.username) || 'guest';
    this.password = decodeURIComponent(this.#url.password) || 'guest';
    this.management = new ManagementClient(address.managementUrl, this.user, this.password);
  }

  /** @returns why it cannot be used, or undefined */
  async unavailable(): Promise<string | undefined> {
    if (this.address.amqpUrl === undefined) return this.address.notNamed;
    try {
      await this.management.call('GET', '/overview');
      await (await this.connect('/')).close();
      return undefined;
    } catch (error) {
      return `${this.#url.host}: ${String(error)}`;
    }
  }

  connect(vhost: string): Promise<WireConnection> {
    const { hostname: host, port } = this.#url;
    return WireConnection.open({ host, port: Number(port) || 5672, user: this.user, password: this.password, vhost });
  }

  /** A new virtual host, for one program after the other. */
  async open(): Promise<RabbitMqGround> {
    const vhost = `fuzz-${process.pid}-${Date.now().toString(36)}-${++this.#count}`;
    await this.management.call('PUT', `/vhosts/${vhost}`, {});
    await this.management.call('PUT', `/permissions/${vhost}/${this.user}`, {
      configure: '.*',
      write: '.*',
      read: '.*',
    });
    return new RabbitMqGround(this, vhost);
  }

  #count = 0;
}

/** A virtual host of a real RabbitMQ. */
export class RabbitMqGround implements Ground, ListenerContext {
  begun = Date.now();
  readonly watched = new Set<string>();
  hasQuorumQueues = false;
  readonly #server: RabbitMqServer;
  readonly #vhost: string;
  readonly #policies = new Set<string>();
  #connection: WireConnection | undefined;

  constructor(server: RabbitMqServer, vhost: string) {
    this.#server = server;
    this.#vhost = vhost;
  }

  now(): number {
    return Date.now();
  }

  plain(text: string): string {
    return plainNames(text.replaceAll(`'${this.#vhost}'`, "'V'").replaceAll(`vhost ${this.#vhost}`, 'vhost V'));
  }

  plainFailure(error: unknown): unknown {
    if (!(error instanceof Failure)) return error;
    return new Failure(error.code, this.plain(error.text), error.classId, error.methodId, error.closes);
  }

  async channel(): Promise<TestChannel> {
    if (this.#connection === undefined || this.#connection.failure !== undefined) {
      this.#connection = await this.#server.connect(this.#vhost);
    }
    return new RabbitMqChannel(await this.#connection.openChannel(), this);
  }

  async setPolicy(name: string, operator: boolean, policy: TestPolicy): Promise<void> {
    const { pattern, definition, applyTo = 'all', priority = 0 } = policy;
    const path = this.#path(name, operator);
    this.#policies.add(path);
    await this.#administer('PUT', path, { pattern, definition, priority, 'apply-to': applyTo });
  }

  async clearPolicy(name: string, operator: boolean): Promise<void> {
    const path = this.#path(name, operator);
    this.#policies.delete(path);
    await this.#administer('DELETE', path);
  }

  /** Deletes everything that a program left. */
  async clean(queues: readonly string[], exchanges: readonly string[]): Promise<void> {
    await this.#connection?.close();
    this.#connection = undefined;
    for (const path of this.#policies) await this.#server.management.call('DELETE', path).catch(() => undefined);
    this.#policies.clear();
    const channel = await this.channel();
    for (const queue of queues) await channel.deleteQueue(queue);
    for (const exchange of exchanges) await channel.deleteExchange(exchange);
    await channel.close();
    this.watched.clear();
    this.hasQuorumQueues = false;
    this.begun = Date.now();
  }

  async close(): Promise<void> {
    await this.#connection?.close();
    await this.#server.management.call('DELETE', `/vhosts/${this.#vhost}`);
  }

  /** A policy reaches the queues a moment after it is set. */
  async #administer(method: string, path: string, body?: unknown): Promise<void> {
    await this.#server.management.call(method, path, body);
    await wait(50);
  }

  #path(name: string, operator: boolean): string {
    return `/${operator ? 'operator-policies' : 'policies'}/${this.#vhost}/${name}`;
  }
}
