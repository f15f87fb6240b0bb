import { setTimeout as wait } from 'node:timers/promises';
import { noProperties } from '../../libs/dlx-broker/src/message/index.js';
import { ChannelRecord } from './channel-record.js';
import type { Driver, Received, Session, TestChannel, TestConnection, TestPermissions, TestPolicy } from './driver.js';
import { Failure } from './failure.js';
import { ManagementClient } from './management-client.js';
import { plainNames } from './plain-names.js';
import type { Content, WireChannel } from './wire/channel.js';
import { WireConnection } from './wire/connection.js';
import type { Method } from './wire/methods.js';

export interface RabbitMqOptions {
  readonly name: string;
  /** `amqp://user:password@host:port` */
  readonly amqpUrl: string;
  /** `http://host:port`; the same user. */
  readonly managementUrl: string;
}

/** Any broker that speaks AMQP 0-9-1 and has RabbitMQ's management API. */
export function rabbitMqDriver(options: RabbitMqOptions): Driver {
  const url = new URL(options.amqpUrl);
  const user = decodeURIComponent(url.username) || 'guest';
  const password = decodeURIComponent(url.password) || 'guest';
  const server = { host: url.hostname, port: Number(url.port) || 5672, user, password };
  const management = new ManagementClient(options.managementUrl, user, password);
  let sessions = 0;
  return {
    name: options.name,
    realTime: true,
    async unavailable() {
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
    let plain = text.replaceAll(`'${this.#vhost}'`, "'V'").replaceAll(`vhost ${this.#vhost}`, 'vhost V');
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

class RabbitMqChannel implements TestChannel {
  readonly record = new ChannelRecord();
  readonly #channel: WireChannel;
  readonly #session: RabbitMqSession;

  constructor(channel: WireChannel, session: RabbitMqSession) {
    this.#channel = channel;
    this.#session = session;
    channel.listener = (method) => this.#receive(method);
  }

  get returns() {
    return this.record.returns;
  }

  get log() {
    return this.record.log;
  }

  confirms() {
    return this.record.confirms();
  }

  async declareExchange(name: string, type: string, options = {}): Promise<void> {
    await this.#call('exchange.declare', { exchange: name, type, ...options });
  }

  async deleteExchange(name: string, options = {}): Promise<void> {
    await this.#call('exchange.delete', { exchange: name, ...options });
  }

  async bindExchange(destination: string, source: string, key = '', args = new Map()): Promise<void> {
    await this.#call('exchange.bind', { destination, source, key, arguments: args });
  }

  async unbindExchange(destination: string, source: string, key = '', args = new Map()): Promise<void> {
    await this.#call('exchange.unbind', { destination, source, key, arguments: args });
  }

  async declareQueue(name: string, options: Parameters<TestChannel['declareQueue']>[1] = {}) {
    const { args } = await this.#call('queue.declare', { queue: name, ...options });
    const queue = args['queue'] as string;
    // Asking for the counts of a queue with x-expires would keep it alive (rule B12).
    if (options.arguments?.has('x-expires') !== true && options.exclusive !== true && options.passive !== true)
      this.#session.watched.add(queue);
    if (options.arguments?.get('x-queue-type')?.value === 'quorum') this.#session.hasQuorumQueues = true;
    return {
      queue,
      messageCount: args['messageCount'] as number,
      consumerCount: args['consumerCount'] as number,
    };
  }

  async bindQueue(queue: string, exchange: string, key = '', args = new Map()): Promise<void> {
    await this.#call('queue.bind', { queue, exchange, key, arguments: args });
  }

  async unbindQueue(queue: string, exchange: string, key = '', args = new Map()): Promise<void> {
    await this.#call('queue.unbind', { queue, exchange, key, arguments: args });
  }

  async purgeQueue(queue: string): Promise<number> {
    return (await this.#call('queue.purge', { queue })).args['messageCount'] as number;
  }

  async deleteQueue(queue: string, options = {}): Promise<number> {
    return (await this.#call('queue.delete', { queue, ...options })).args['messageCount'] as number;
  }

  async qos(prefetch: number, options = {}): Promise<void> {
    await this.#call('basic.qos', { prefetchCount: prefetch, ...options });
  }

  async consume(queue: string, options: Parameters<TestChannel['consume']>[1] = {}) {
    const { tag, ...others } = options;
    const { args } = await this.#call('basic.consume', { queue, consumerTag: tag ?? '', ...others });
    return this.record.consumer(args['consumerTag'] as string);
  }

  async cancel(tag: string): Promise<void> {
    await this.#call('basic.cancel', { consumerTag: tag });
    this.record.forget(tag);
  }

  async publish(exchange: string, key: string, options: Parameters<TestChannel['publish']>[2] = {}): Promise<void> {
    const { properties = noProperties, body = '', ...flags } = options;
    this.record.published();
    this.#channel.publish({ exchange, key, ...flags }, properties, Buffer.from(body));
    await this.#sync();
  }

  async get(queue: string, options = {}): Promise<Received | undefined> {
    const answer = await this.#call('basic.get', { queue, ...options });
    return answer.name === 'basic.get-empty' ? undefined : received(answer);
  }

  ack(deliveryTag: number, multiple = false): Promise<void> {
    this.#channel.send('basic.ack', { deliveryTag, multiple });
    return this.#sync();
  }

  nack(deliveryTag: number, options: { multiple?: boolean; requeue: boolean }): Promise<void> {
    this.#channel.send('basic.nack', { deliveryTag, ...options });
    return this.#sync();
  }

  reject(deliveryTag: number, requeue: boolean): Promise<void> {
    this.#channel.send('basic.reject', { deliveryTag, requeue });
    return this.#sync();
  }

  async recover(requeue: boolean): Promise<void> {
    await this.#call('basic.recover', { requeue });
  }

  async confirmSelect(): Promise<void> {
    await this.#call('confirm.select', {});
    this.record.confirmSelected();
  }

  async txSelect(): Promise<void> {
    await this.#call('tx.select', {});
  }

  async txCommit(): Promise<void> {
    await this.#call('tx.commit', {});
  }

  async txRollback(): Promise<void> {
    await this.#call('tx.rollback', {});
  }

  async close(): Promise<void> {
    await this.#call('channel.close', { code: 200 });
  }

  /** A round trip that changes nothing: whatever the last method broke has come to light after it. */
  async #sync(): Promise<void> {
    await this.#call('exchange.declare', { exchange: 'amq.direct', type: 'direct', passive: true });
  }

  #call: WireChannel['call'] = (name, args) =>
    this.#channel.call(name, args).catch((error: unknown) => {
      throw this.#session.plainFailure(error);
    });

  #receive(method: Method & Partial<Content>): void {
    const { args, name } = method;
    if (name === 'basic.deliver') this.record.delivered(args['consumerTag'] as string, received(method));
    else if (name === 'basic.cancel') this.record.cancelled(args['consumerTag'] as string);
    else if (name === 'basic.return')
      this.record.returned({
        code: args['code'] as number,
        text: args['text'] as string,
        exchange: args['exchange'] as string,
        routingKey: args['key'] as string,
        properties: method.properties ?? {},
        body: String(method.body),
      });
    else this.record.confirmed(args['deliveryTag'] as number, args['multiple'] as boolean, name === 'basic.ack');
  }
}

function received({ args, properties, body }: Method & Partial<Content>): Received {
  return {
    deliveryTag: args['deliveryTag'] as number,
    redelivered: args['redelivered'] as boolean,
    exchange: args['exchange'] as string,
    routingKey: args['key'] as string,
    properties: properties ?? {},
    body: String(body),
    ...('messageCount' in args ? { messageCount: args['messageCount'] as number } : {}),
  };
}

function policyBody({ pattern, definition, applyTo = 'all', priority = 0 }: TestPolicy) {
  return { pattern, definition, 'apply-to': applyTo, priority };
}
