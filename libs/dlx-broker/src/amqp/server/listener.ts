import type { AddressInfo } from 'node:net';
import type { Alarm } from '../../platform/alarms/index.js';
import type { Broker } from '../../engine/broker/index.js';
import { bind, opened } from '../../platform/index.js';
import { Acceptor } from './acceptor.js';
import type { ClientConnection } from './connection.js';
import { defaultLimits } from './limits.js';
import type { ListenOptions } from './listen-options.js';
import { ClientConnections } from './client-connections.js';
import { processRuntime } from './runtime.js';

/** Opens a port for AMQP 0-9-1 clients. @returns a promise that resolves when clients can connect @throws the error of the system, such as EADDRINUSE */
export async function listen(broker: Broker, options: ListenOptions = {}): Promise<Listener> {
  return opened(new Listener(broker, options), options.host ?? '127.0.0.1', options.port ?? 5672);
}

/** A port and the connections that came in through it. */
export class Listener {
  readonly #acceptor: Acceptor;
  readonly #connections: ClientConnections;

  /** See {@link listen}. */
  constructor(broker: Broker, options: ListenOptions) {
    const { handshake } = { ...defaultLimits, ...options.limits };
    // First, because it refuses an invalid certificate, and ClientConnections starts a timer.
    const acceptor = new Acceptor(options.tls, {
      now: processRuntime.now,
      arrive: (socket) => this.#connections.arrive(socket),
      enter: (socket, arrival) => this.#connections.enter(socket, arrival),
    });
    this.#acceptor = acceptor;
    this.#connections = new ClientConnections(broker, options, processRuntime, () => acceptor.endOverdue(handshake));
  }

  get isOpen(): boolean {
    return this.#acceptor.server.listening;
  }

  get host(): string {
    return (this.#acceptor.server.address() as AddressInfo).address;
  }

  get port(): number {
    return (this.#acceptor.server.address() as AddressInfo).port;
  }

  /** Sockets that have not got through their TLS handshake. */
  get pendingCount(): number {
    return this.#acceptor.pendingCount;
  }

  /** The resources that are short, so that publishers wait. */
  get raised(): readonly Alarm['resource'][] {
    return this.#connections.context.alarms.raised;
  }

  get connections(): ReadonlySet<ClientConnection> {
    return this.#connections.all;
  }

  async open(host: string, port: number): Promise<void> {
    const { log } = this.#connections.context;
    await bind(this.#acceptor.server, { host, port, backlog: 1024 }, log);
    this.#connections.opened();
  }

  /**
   * Accepts no client any more and closes all connections (320). @returns a promise that resolves when they are closed, or after a timeout
   */
  async close(reason = "broker forced connection closure with reason 'shutdown'"): Promise<void> {
    this.#acceptor.close();
    await this.#connections.close(reason);
  }
}
