import { policyPatterns } from '../../libs/dlx-broker/src/platform/patterns.js';
import {
  AmqpError,
  Broker,
  type Channel,
  type ChannelOutbox,
  type Connection,
  type ProfileName,
} from '../../libs/dlx-broker/src/engine/broker/index.js';
import { PolicyError } from '../../libs/dlx-broker/src/engine/broker/policy/policy.js';
import { noProperties, type FieldTable, type Message } from '../../libs/dlx-broker/src/engine/message/index.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { ChannelRecord } from './channel-record.js';
import type { Driver, Received, Session, TestChannel, TestConnection, TestPermissions, TestPolicy } from './driver.js';
import { AdministrationFailure, Failure } from './failure.js';
import { plainNames } from './plain-names.js';

/** The engine in this process, in virtual time. */
export const engineDriver = (profile: ProfileName): Driver => ({
  name: 'engine',
  profile,
  realTime: false,
  speaksAmqp: false,
  unavailable: async () => undefined,
  open: async () => new EngineSession(profile),
});

const everything: TestPermissions = { configure: '.*', write: '.*', read: '.*' };

class EngineSession implements Session {
  readonly begun: number;
  readonly #clock = new ManualClock();
  readonly #broker: Broker;
  readonly #vhost: ReturnType<Broker['addVirtualHost']>;
  #first: Promise<TestConnection> | undefined;

  constructor(rabbitmq: ProfileName) {
    this.begun = this.#clock.now();
    this.#broker = new Broker({ clock: this.#clock, names: new CountedNames(), patterns: policyPatterns, rabbitmq });
    this.#vhost = this.#broker.addVirtualHost('V');
    this.#broker.access.setUser('guest');
    this.#broker.access.setPermissions('guest', 'V', everything);
  }

  async connect({ user = 'guest', vhost = 'V' }: { user?: string; vhost?: string } = {}): Promise<TestConnection> {
    const connection = translated(() => this.#broker.connect({ vhost, user }));
    return {
      channel: async () => new EngineChannel(connection),
      close: async () => connection.close(),
    };
  }

  async channel(): Promise<TestChannel> {
    return (await (this.#first ??= this.connect())).channel();
  }

  async drain(queue: string): Promise<Received[]> {
    const connection = await this.connect();
    const channel = await connection.channel();
    const messages: Received[] = [];
    for (;;) {
      const message = await channel.get(queue, { noAck: true });
      if (message === undefined) break;
      messages.push(message);
    }
    await connection.close();
    return messages;
  }

  async elapse(milliseconds: number): Promise<void> {
    this.#clock.advance(milliseconds);
  }

  async settle(): Promise<void> {
    // Whatever a command causes has happened when it returns.
  }

  now(): number {
    return this.#clock.now();
  }

  plain(text: string): string {
    return plainNames(text);
  }

  async setPolicy(name: string, policy: TestPolicy): Promise<void> {
    this.#administer(() => this.#vhost.setPolicy(name, policy));
  }

  async clearPolicy(name: string): Promise<void> {
    this.#administer(() => this.#vhost.deletePolicy(name));
  }

  async setOperatorPolicy(name: string, policy: TestPolicy): Promise<void> {
    this.#administer(() => this.#vhost.setOperatorPolicy(name, policy));
  }

  async clearOperatorPolicy(name: string): Promise<void> {
    this.#administer(() => this.#vhost.deleteOperatorPolicy(name));
  }

  async addUser(name: string, permissions?: TestPermissions): Promise<void> {
    this.#broker.access.setUser(name);
    if (permissions !== undefined) this.#broker.access.setPermissions(name, 'V', permissions);
  }

  async limitUser(name: string, limits: Readonly<Record<string, number>>): Promise<void> {
    this.#broker.access.setUserLimits(name, limits);
  }

  async close(): Promise<void> {
    this.#broker.close();
  }

  /** Refusals are 400 as in the management API, and what is not there is 404. */
  #administer(change: () => unknown): void {
    try {
      if (change() === false) throw new AdministrationFailure(404, 'Not Found');
    } catch (error) {
      if (error instanceof PolicyError) throw new AdministrationFailure(400, error.message.trimEnd());
      throw error;
    }
  }
}

/** A channel of an engine in this process. */
export class EngineChannel implements TestChannel {
  readonly #record = new ChannelRecord();
  readonly #opened: Channel;
  /** Why the broker closed it of its own accord. */
  #closed: AmqpError | undefined;

  constructor(connection: Connection) {
    const record = this.#record;
    const outbox: ChannelOutbox = {
      deliver: ({ consumerTag, deliveryTag, redelivered, message }) =>
        record.delivered(consumerTag, { deliveryTag, redelivered, ...seen(message) }),
      returned: ({ replyCode, replyText, message }) =>
        record.returned({ code: replyCode, text: replyText, ...seen(message) }),
      confirmed: (tag, multiple, ok) => record.confirmed(tag, multiple, ok),
      cancelled: (tag) => record.cancelled(tag),
      closed: (error) => void (this.#closed = error),
    };
    this.#opened = translated(() => connection.openChannel(outbox));
  }

  get #channel(): Channel {
    if (this.#closed !== undefined) throw this.#closed;
    return this.#opened;
  }

  get returns() {
    return this.#record.returns;
  }

  get log() {
    return this.#record.log;
  }

  confirms() {
    return this.#record.confirms();
  }

  async declareExchange(name: string, type: string, options = {}): Promise<void> {
    translated(() => this.#channel.declareExchange(name, { type, ...options }));
  }

  async deleteExchange(name: string, options = {}): Promise<void> {
    translated(() => this.#channel.deleteExchange(name, options));
  }

  async bindExchange(destination: string, source: string, key = '', args?: FieldTable): Promise<void> {
    translated(() => this.#channel.bindExchange(destination, source, key, args));
  }

  async unbindExchange(destination: string, source: string, key = '', args?: FieldTable): Promise<void> {
    translated(() => this.#channel.unbindExchange(destination, source, key, args));
  }

  async declareQueue(name: string, options = {}) {
    return translated(() => this.#channel.declareQueue(name, options));
  }

  async bindQueue(queue: string, exchange: string, key = '', args?: FieldTable): Promise<void> {
    translated(() => this.#channel.bindQueue(queue, exchange, key, args));
  }

  async unbindQueue(queue: string, exchange: string, key = '', args?: FieldTable): Promise<void> {
    translated(() => this.#channel.unbindQueue(queue, exchange, key, args));
  }

  async purgeQueue(queue: string): Promise<number> {
    return translated(() => this.#channel.purgeQueue(queue));
  }

  async deleteQueue(queue: string, options = {}): Promise<number> {
    return translated(() => this.#channel.deleteQueue(queue, options));
  }

  async qos(prefetch: number, options = {}): Promise<void> {
    translated(() => this.#channel.qos(prefetch, options));
  }

  async consume(queue: string, options: Parameters<TestChannel['consume']>[1] = {}) {
    const { tag, ...others } = options;
    const consumerTag = tag === undefined ? {} : { consumerTag: tag };
    return this.#record.consumer(translated(() => this.#channel.consume(queue, { ...consumerTag, ...others })));
  }

  async cancel(tag: string): Promise<void> {
    translated(() => this.#channel.cancel(tag));
    this.#record.forget(tag);
  }

  async publish(exchange: string, key: string, options: Parameters<TestChannel['publish']>[2] = {}): Promise<void> {
    const { properties = noProperties, body = '', ...flags } = options;
    this.#record.published();
    translated(() => this.#channel.publish(exchange, key, properties, Buffer.from(body), flags));
  }

  async get(queue: string, options = {}): Promise<Received | undefined> {
    const got = translated(() => this.#channel.get(queue, options));
    if (got === undefined) return undefined;
    const { deliveryTag, redelivered, messageCount, message } = got;
    return { deliveryTag, redelivered, messageCount, ...seen(message) };
  }

  async ack(deliveryTag: number, multiple = false): Promise<void> {
    translated(() => this.#channel.ack(deliveryTag, multiple));
  }

  async nack(deliveryTag: number, options: { multiple?: boolean; requeue: boolean }): Promise<void> {
    translated(() => this.#channel.nack(deliveryTag, options.multiple ?? false, options.requeue));
  }

  async reject(deliveryTag: number, requeue: boolean): Promise<void> {
    translated(() => this.#channel.reject(deliveryTag, requeue));
  }

  async recover(requeue: boolean): Promise<void> {
    translated(() => this.#channel.recover(requeue));
  }

  async confirmSelect(): Promise<void> {
    translated(() => this.#channel.confirmSelect());
    this.#record.confirmSelected();
  }

  async txSelect(): Promise<void> {
    translated(() => this.#channel.txSelect());
  }

  async txCommit(): Promise<void> {
    translated(() => this.#channel.txCommit());
  }

  async txRollback(): Promise<void> {
    translated(() => this.#channel.txRollback());
  }

  async close(): Promise<void> {
    translated(() => this.#opened.close());
  }
}

const seen = ({ exchange, routingKey, properties, body }: Message) => ({
  exchange,
  routingKey,
  properties,
  body: Buffer.from(body).toString(),
});

/** Runs a command; its AmqpError becomes the failure all drivers share. */
function translated<T>(command: () => T): T {
  try {
    return command();
  } catch (error) {
    if (!(error instanceof AmqpError)) throw error;
    throw new Failure(error.code, error.message, error.method[0], error.method[1], error.closes);
  }
}
