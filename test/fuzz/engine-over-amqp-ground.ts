import { listen, type Listener } from '../../libs/dlx-broker/src/amqp/server/index.js';
import { policyPatterns } from '../../libs/dlx-broker/src/platform/patterns.js';
import { Broker, type ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import type { TestChannel, TestPolicy } from '../contract/driver.js';
import { Failure } from '../contract/failure.js';
import { plainNames } from '../contract/plain-names.js';
import { RabbitMqChannel, type ListenerContext } from '../contract/rabbitmq-channel.js';
import { WireConnection } from '../contract/wire/connection.js';
import { administer } from './engine-ground.js';
import type { VirtualGround } from './rehearsal.js';
import type { Roughness } from './rough-wire.js';

/** The engine in virtual time behind a listener: frames over a real socket, administration in process. */
export class EngineOverAmqpGround implements VirtualGround, ListenerContext {
  readonly clock = new ManualClock();
  readonly begun = this.clock.now();
  readonly watched = new Set<string>();
  hasQuorumQueues = false;
  readonly #broker: Broker;
  readonly #vhost: ReturnType<Broker['addVirtualHost']>;
  readonly #connections: WireConnection[] = [];
  #listener!: Listener;

  private constructor(
    readonly roughness: Roughness,
    rabbitmq: ProfileName,
  ) {
    const { clock } = this;
    this.#broker = new Broker({ clock, names: new CountedNames(), patterns: policyPatterns, rabbitmq });
    this.#vhost = this.#broker.addVirtualHost('V');
  }

  static async open(roughness: Roughness, profile: ProfileName): Promise<EngineOverAmqpGround> {
    const ground = new EngineOverAmqpGround(roughness, profile);
    ground.#broker.access.setUser('guest');
    ground.#broker.access.setPermissions('guest', 'V', { configure: '.*', write: '.*', read: '.*' });
    ground.#listener = await listen(ground.#broker, { port: 0, authenticate: () => true });
    return ground;
  }

  now(): number {
    return this.clock.now();
  }

  plain(text: string): string {
    return plainNames(text);
  }

  plainFailure(error: unknown): unknown {
    if (!(error instanceof Failure)) return error;
    return new Failure(error.code, this.plain(error.text), error.classId, error.methodId, error.closes);
  }

  /** All channels are on one connection, until a hard error closes it. */
  async channel(): Promise<TestChannel> {
    let connection = this.#connections.at(-1);
    if (connection === undefined || connection.failure !== undefined) {
      const { port } = this.#listener;
      const wire = { host: '127.0.0.1', port, user: 'guest', password: '', vhost: 'V' };
      const { frameMax, cut } = this.roughness;
      connection = await WireConnection.open({ ...wire, frameMax, ...(cut && { cut }) });
      this.#connections.push(connection);
    }
    return new RabbitMqChannel(await connection.openChannel(), this);
  }

  async setPolicy(name: string, operator: boolean, policy: TestPolicy): Promise<void> {
    administer(() => (operator ? this.#vhost.setOperatorPolicy(name, policy) : this.#vhost.setPolicy(name, policy)));
  }

  async clearPolicy(name: string, operator: boolean): Promise<void> {
    administer(() => (operator ? this.#vhost.deleteOperatorPolicy(name) : this.#vhost.deletePolicy(name)));
  }

  /** A round trip: what was sent before, either way, has arrived. */
  async settle(): Promise<void> {
    const connection = this.#connections.at(-1);
    if (connection === undefined || connection.failure !== undefined) return;
    const channel = await connection.openChannel();
    await channel.call('channel.close', { code: 200 });
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.drop();
    await this.#listener.close();
    this.#broker.close();
  }
}
