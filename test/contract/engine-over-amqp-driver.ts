import { listen, type Listener } from '../../libs/dlx-broker/src/amqp/server/index.js';
import { type HttpListener, listenHttp } from '../../libs/dlx-broker/src/server/index.js';
import { hashPassword } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { policyPatterns } from '../../libs/dlx-broker/src/platform/patterns.js';
import { Broker, type ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import type { Driver, Received, Session, TestChannel, TestConnection, TestPermissions, TestPolicy } from './driver.js';
import { Failure } from './failure.js';
import { ManagementClient, policyBody } from './management-client.js';
import { plainNames } from './plain-names.js';
import { RabbitMqChannel, received } from './rabbitmq-channel.js';
import type { WireChannel } from './wire/channel.js';
import { WireConnection, type WireOptions } from './wire/connection.js';

/** The engine behind its listeners, in virtual time: frames over one socket, administration over another. */
export const engineOverAmqpDriver = (rabbitmq: ProfileName): Driver => ({
  name: 'engine over AMQP and HTTP',
  profile: rabbitmq,
  realTime: false,
  speaksAmqp: true,
  unavailable: async () => undefined,
  open: async () => {
    const clock = new ManualClock();
    const broker = new Broker({ clock, names: new CountedNames(), patterns: policyPatterns, rabbitmq });
    return new EngineOverAmqpSession(clock, broker, await listen(broker, { port: 0 }));
  },
});

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
  /** Opened by the first who administers. */
  #http: Promise<HttpListener> | undefined;

  constructor(
    readonly clock: ManualClock,
    readonly broker: Broker,
    readonly listener: Listener,
  ) {
    this.begun = clock.now();
    this.broker.addVirtualHost('V');
    this.wire = { host: '127.0.0.1', port: listener.port, user: 'guest', password, vhost: 'V' };
    this.broker.access.setUser('guest', { passwordHash: hashPassword(password), tags: ['administrator'] });
    this.broker.access.setPermissions('guest', 'V', everything);
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
    return this.#administer('PUT', `/policies/V/${name}`, policyBody(policy));
  }

  clearPolicy(name: string): Promise<void> {
    return this.#administer('DELETE', `/policies/V/${name}`);
  }

  setOperatorPolicy(name: string, policy: TestPolicy): Promise<void> {
    return this.#administer('PUT', `/operator-policies/V/${name}`, policyBody(policy));
  }

  clearOperatorPolicy(name: string): Promise<void> {
    return this.#administer('DELETE', `/operator-policies/V/${name}`);
  }

  async addUser(name: string, permissions?: TestPermissions): Promise<void> {
    await this.#administer('PUT', `/users/${name}`, { password, tags: '' });
    if (permissions !== undefined) await this.#administer('PUT', `/permissions/V/${name}`, permissions);
  }

  async limitUser(name: string, limits: Readonly<Record<string, number>>): Promise<void> {
    for (const [limit, value] of Object.entries(limits)) {
      await this.#administer('PUT', `/user-limits/${name}/${limit}`, { value });
    }
  }

  async close(): Promise<void> {
    for (const { socket } of this.#connections) socket.destroy();
    await Promise.all([this.listener.close(), this.#http?.then((http) => http.close())]);
    this.broker.close();
  }

  plainFailure(error: unknown): unknown {
    if (!(error instanceof Failure)) return error;
    return new Failure(error.code, this.plain(error.text), error.classId, error.methodId, error.closes);
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

  /** @throws AdministrationFailure */
  async #administer(method: string, path: string, body?: unknown): Promise<void> {
    await this.settle();
    const { port } = await (this.#http ??= this.#listenHttp());
    await new ManagementClient(`http://127.0.0.1:${port}`, 'guest', password).call(method, path, body);
    await this.settle();
  }

  #listenHttp(): Promise<HttpListener> {
    const now = (): number => this.clock.now();
    return listenHttp({ broker: this.broker, now, patterns: policyPatterns }, { port: 0 });
  }
}
