import type { AddressInfo } from 'node:net';
import type { Alarm } from '../alarms/index.js';
import type { Broker } from '../broker/index.js';
import { bind, opened } from '../host/index.js';
import { Acceptor } from './acceptor.js';
import type { ClientConnection } from './connection.js';
import { defaultLimits } from './limits.js';
import type { ListenOptions } from './listen-options.js';
import { Reception } from './reception.js';
import { processSurroundings } from './surroundings.js';

/** Opens a port for AMQP 0-9-1 clients. @returns once clients can connect @throws what the system says, e.g. EADDRINUSE */
export async function listen(broker: Broker, options: ListenOptions = {}): Promise<Listener> {
  return opened(new Listener(broker, options), options.host ?? '127.0.0.1', options.port ?? 5672);
}

/** A port and the connections that came in through it. */
export class Listener {
  readonly #acceptor: Acceptor;
  readonly #reception: Reception;

  /** See {@link listen}. */
  constructor(broker: Broker, options: ListenOptions) {
    const { handshake } = { ...defaultLimits, ...options.limits };
    // First, because it refuses an invalid certificate, and the reception starts a timer.
    const acceptor = new Acceptor(options.tls, {
      now: processSurroundings.now,
      arrive: (socket) => this.#reception.arrive(socket),
      enter: (socket, since, pendingLogin) => this.#reception.enter(socket, since, pendingLogin),
    });
    this.#acceptor = acceptor;
    this.#reception = new Reception(broker, options, processSurroundings, () => acceptor.endOverdue(handshake));
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
    return this.#reception.context.alarms.raised;
  }

  get connections(): ReadonlySet<ClientConnection> {
    return this.#reception.connections;
  }

  async open(host: string, port: number): Promise<void> {
    const { alarms, log } = this.#reception.context;
    await bind(this.#acceptor.server, { host, port, backlog: 1024 }, log);
    alarms.check(); // the first client is blocked as well if a resource is short
  }

  /**
   * Accepts no client any more and closes all connections (320). @returns when they are closed, or their time is over
   */
  async close(reason = "broker forced connection closure with reason 'shutdown'"): Promise<void> {
    this.#acceptor.close();
    await this.#reception.close(reason);
  }
}
