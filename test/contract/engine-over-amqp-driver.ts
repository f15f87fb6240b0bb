import { listen, type Listener } from '../../libs/dlx-broker/src/amqp/index.js';
import { hashPassword } from '../../libs/dlx-broker/src/users/index.js';
import { policyPatterns } from '../../libs/dlx-broker/src/backend/patterns.js';
import { Broker, PolicyError } from '../../libs/dlx-broker/src/broker/index.js';
import { CountedNames } from '../../libs/dlx-broker/src/testing/counted-names.js';
import { ManualClock } from '../../libs/dlx-broker/src/testing/manual-clock.js';
import type { Driver, Received, Session, TestChannel, TestConnection, TestPermissions, TestPolicy } from './driver.js';
import { AdministrationFailure, Failure } from './failure.js';
import { plainNames } from './plain-names.js';
import { RabbitMqChannel, received } from './rabbitmq-channel.js';
import type { WireChannel } from './wire/channel.js';
import { WireConnection, type WireOptions } from './wire/connection.js';

/** The engine behind its AMQP listener, in virtual time: frames over a real socket, administration in process. */
export const engineOverAmqpDriver: Driver = {
  name: 'engine over AMQP',
  realTime: false,
  speaksAmqp: true,
  unavailable: async () => undefined,
  open: async () => {
    const clock = new ManualClock();
    const broker = new Broker({ clock, names: new CountedNames(), patterns: policyPatterns });
    return new EngineOverAmqpSession(clock, broker, await listen(broker, { port: 0 }));
  },
};

const everything: TestPermissions = { configure: '.*', write: '.*', read: '.*' };
const password = 'secret';

class EngineOverAmqpSession implements Session {
  readonly begun: number;
  readonly wire: WireOptions;
  readonly watched = new Set<string>();
  hasQuorumQueues = false;
  readonly #connections: WireConnection[] = [];
  readonly #channels = new Set<WireChannel>();
  #first: Promise<WireConnection> | undefined;

  constructor(
    readonly clock: ManualClock,
    readonly broker: Broker,
    readonly listener: Listener,
  ) {
    this.begun = clock.now();
    this.broker.addVirtualHost('V');
    this.wire = { host: '127.0.0.1', port: listener.port, user: 'guest', password, vhost: 'V' };
    this.#addUser('guest', everything);
  }

  async connect(options: { readonly user?: string; readonly vhost?: string } = {}): Promise<TestConnection> {
    const connection = await this.#open(options);
    return { channel: () => this.#channel(connection), close: () => connection.close() };
  }

  async channel(): Promise<TestChannel> {
    return this.#channel(await (this.#first ??= this.#open()));
  }

  async drain(queue: string): Promise<Received[]> {
    await this.settle();
    const connection = await this.#open();
    const channel = await connection.openChannel();
    const messages: Received[] = [];
    for (;;) {
      const answer = await channel.call('basic.get', { queue, noAck: true });
      if (answer.name === 'basic.get-empty') break;
      messages.push(received(answer));
    }
    await connection.close();
    await this.settle();
    return messages;
  }

  async elapse(milliseconds: number): Promise<void> {
    await this.settle();
    this.clock.advance(milliseconds);
    await this.settle();
  }

  /** An answer on every channel: whatever was sent before it has arrived. */
  async settle(): Promise<void> {
    await Promise.all(
      [...this.#channels]
        .filter((channel) => channel.failure === undefined && channel.connection.failure === undefined)
        .map((channel) => channel.call('basic.cancel', { consumerTag: 'nobody' }).catch(() => undefined)),
    );
  }

  now(): number {
    return this.clock.now();
  }

  plain(text: string): string {
    return plainNames(text);
  }

  setPolicy(name: string, policy: TestPolicy): Promise<void> {
    return this.#administer(() => this.#vhost.setPolicy(name, policy));
  }

  clearPolicy(name: string): Promise<void> {
    return this.#administer(() => this.#vhost.deletePolicy(name));
  }

  setOperatorPolicy(name: string, policy: TestPolicy): Promise<void> {
    return this.#administer(() => this.#vhost.setOperatorPolicy(name, policy));
  }

  clearOperatorPolicy(name: string): Promise<void> {
    return this.#administer(() => this.#vhost.deleteOperatorPolicy(name));
  }

  async addUser(name: string, permissions?: TestPermissions): Promise<void> {
    this.#addUser(name, permissions);
  }

  async close(): Promise<void> {
    for (const { socket } of this.#connections) socket.destroy();
    await this.listener.close();
    this.broker.close();
  }

  plainFailure(error: unknown): unknown {
    if (!(error instanceof Failure)) return error;
    return new Failure(error.code, this.plain(error.text), error.classId, error.methodId, error.closes);
  }

  get #vhost() {
    return this.broker.virtualHost('V');
  }

  #addUser(name: string, permissions?: TestPermissions): void {
    this.broker.access.setUser(name, { passwordHash: hashPassword(password) });
    if (permissions !== undefined) this.broker.access.setPermissions(name, 'V', permissions);
  }

  async #open({ user = 'guest', vhost = 'V' }: { user?: string; vhost?: string } = {}): Promise<WireConnection> {
    const connection = await WireConnection.open({ ...this.wire, user, vhost }).catch((error: unknown) => {
      throw this.plainFailure(error);
    });
    this.#connections.push(connection);
    return connection;
  }

  async #channel(connection: WireConnection): Promise<TestChannel> {
    const channel = await connection.openChannel();
    this.#channels.add(channel);
    const shown = new RabbitMqChannel(channel, this);
    const close = shown.close.bind(shown);
    shown.close = () => {
      this.#channels.delete(channel);
      return close();
    };
    return shown;
  }

  /** Refusals are 400 as in the management API, and what is not there is 404. */
  async #administer(change: () => unknown): Promise<void> {
    await this.settle();
    try {
      if (change() === false) throw new AdministrationFailure(404, 'Not Found');
    } catch (error) {
      if (error instanceof PolicyError) throw new AdministrationFailure(400, error.message.trimEnd());
      throw error;
    }
    await this.settle();
  }
}
