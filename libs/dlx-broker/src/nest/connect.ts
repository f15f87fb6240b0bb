import { Logger } from '@nestjs/common';
import { listen, type Listener, type ListenOptions } from '../amqp/index.js';
import { type Backend, EmbeddedBackend, policyPatterns, randomNames, SystemClock, turnPace } from '../backend/index.js';
import { Broker, type ProfileName } from '../broker/index.js';
import { DlxConfigurationError } from '../topology/index.js';
import type { HttpListener, HttpOptions, ManagementHost } from '../management/index.js';
import { guestOf, letIn, LoginThrottle, type ServedUser } from '../users/index.js';
import type { DlxBrokerOptions } from './dlx-broker.module.js';
import type { Connected, SocketAddress } from './options.js';

/** Ways for other processes into the broker of this one. */
export interface ListenAt {
  /** A port for AMQP 0-9-1 clients: on loopback, 5672, unless told; 0 is any that is free. */
  readonly amqp?: Omit<ListenOptions, 'authenticate' | 'throttle'>;
  /** A port for the management API: on loopback, 15672, unless told; 0 is any that is free. */
  readonly http?: HttpOptions;
  /** Who may log in. Unless told, `guest` with the password `guest`, who may do everything, but only from this machine. */
  readonly users?: readonly ServedUser[];
}

const nothing = async (): Promise<void> => {};

/** A backend that somebody else opened and will close. */
export const lent = (backend: Backend): Connected => ({
  backend,
  open: nothing,
  amqp: () => undefined,
  http: () => undefined,
  close: nothing,
});

/** Gets the module its broker: one that was lent, or one of its own. */
export function connect(options: DlxBrokerOptions): Connected {
  const { backend, broker, vhost = '/', user } = options;
  if (backend !== undefined) {
    if (options.listen === undefined) return lent(backend);
    throw new DlxConfigurationError(
      "DlxBrokerModule: option 'listen' opens ports of a broker in this process, but option 'backend' names one elsewhere",
    );
  }
  const used = broker ?? newBroker(options.rabbitmq);
  used.addVirtualHost(vhost);
  const embedded = new EmbeddedBackend(used, { vhost, ...(user !== undefined && { user }) });
  const ports = new Ports(used, options.listen ?? {}, vhost);
  return {
    backend: embedded,
    open: () => ports.open(),
    amqp: () => addressOf(ports.amqp),
    http: () => addressOf(ports.http),
    close: async () => {
      await ports.close();
      await embedded.close();
      if (broker === undefined) used.close(); // its clock would keep the process alive
    },
  };
}

const addressOf = (listener: SocketAddress | undefined): SocketAddress | undefined =>
  listener && { host: listener.host, port: listener.port };

/** The ports of the option `listen`. */
class Ports {
  amqp: Listener | undefined;
  http: HttpListener | undefined;
  #opened = false;

  constructor(
    private readonly broker: Broker,
    private readonly at: ListenAt,
    private readonly vhost: string,
  ) {}

  /** @throws DlxConfigurationError naming the option */
  async open(): Promise<void> {
    const { amqp, http, users } = this.at;
    if (this.#opened || (amqp === undefined && http === undefined)) return;
    this.#opened = true;
    letIn(this.broker, users ?? [guestOf(this.vhost)]);
    const throttle = new LoginThrottle(() => performance.now());
    if (amqp !== undefined) {
      this.amqp = await listen(this.broker, { ...amqp, throttle }).catch(refusal('amqp', amqp, 5672));
    }
    if (http === undefined) return;
    // Who does not ask for it need not wait until it is read from disk.
    const { listenHttp } = await import('../management/index.js');
    this.http = await listenHttp(this.#host(throttle), http).catch(refusal('http', http, 15_672));
  }

  async close(): Promise<void> {
    await Promise.all([this.http?.close(), this.amqp?.close()]);
  }

  #host(throttle: LoginThrottle): ManagementHost {
    const protocol = this.at.amqp?.tls === undefined ? 'amqp' : 'amqp/ssl';
    return {
      broker: this.broker,
      now: Date.now,
      patterns: policyPatterns,
      throttle,
      ports: () => (this.amqp === undefined ? [] : [{ protocol, host: this.amqp.host, port: this.amqp.port }]),
      alarms: () => this.amqp?.raised ?? [],
      log: (error) => new Logger('DlxBroker').error(error),
    };
  }
}

const refusal =
  (option: string, { host = '127.0.0.1', port }: Partial<SocketAddress>, preset: number) =>
  (error: NodeJS.ErrnoException): never => {
    const why = error.code === 'EADDRINUSE' ? 'is taken; choose another one, or 0 for any' : error.message;
    throw new DlxConfigurationError(
      `option 'listen.${option}' of DlxBrokerModule: port ${port ?? preset} of ${host} ${why}`,
    );
  };

const newBroker = (rabbitmq: ProfileName = '3.10'): Broker =>
  new Broker({ clock: new SystemClock(), names: randomNames, patterns: policyPatterns, pace: turnPace, rabbitmq });
