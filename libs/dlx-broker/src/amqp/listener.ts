import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { AmqpError, type Broker, profiles } from '../broker/index.js';
import { type Authenticate, usersOf } from '../users/index.js';
import { ClientConnection } from './connection.js';
import { Flusher } from './flusher.js';
import { BufferPool } from './frame/buffer-pool.js';
import { serverProperties } from './handshake.js';
import { defaultLimits, type Limits } from './limits.js';
import type { Surroundings } from './surroundings.js';
import { type MemoryUse, processMemory, Watermark } from './watermark.js';

/** Certificates in PEM. TLS 1.2 at least. */
export interface TlsOptions {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  /** Clients must show a certificate of this authority. */
  readonly ca?: string | Buffer;
}

export interface ListenOptions {
  /** `127.0.0.1` unless told: the whole world is not let in by accident. */
  readonly host?: string;
  /** 5672 unless told, 0 for any that is free. */
  readonly port?: number;
  readonly tls?: TlsOptions;
  readonly limits?: Partial<Limits>;
  /** Who may log in: the users of the broker unless told. */
  readonly authenticate?: Authenticate;
  /** Measures memory; above its limit publishers are stopped. */
  readonly memory?: () => MemoryUse;
  /** Hears of faults of our own; nothing a client does is one. */
  readonly log?: (error: unknown) => void;
}

/** The release of RabbitMQ that a broker behaves like, as clients are told. */
const versionOf = (broker: Broker): string => (broker.profile === profiles['4'] ? '4.2.0' : '3.10.8');

/** Milliseconds between looks at heartbeats, handshakes and memory. */
const interval = 500;

/** Milliseconds that clients have to hear that the listener closes. */
const farewell = 2_000;

/** Opens a port for AMQP 0-9-1 clients. @returns once clients can connect @throws what the system says, e.g. EADDRINUSE */
export async function listen(broker: Broker, options: ListenOptions = {}): Promise<Listener> {
  const listener = new Listener(broker, options);
  await listener.open(options.host ?? '127.0.0.1', options.port ?? 5672);
  return listener;
}

/** A port and the connections that came in through it. */
export class Listener {
  readonly #server: Server;
  readonly #surroundings: Surroundings;
  readonly #connections = new Set<ClientConnection>();
  readonly #timer: NodeJS.Timeout;
  #whenEmpty: (() => void) | undefined;

  /** See {@link listen}. */
  constructor(broker: Broker, { tls, limits, authenticate, memory, log }: ListenOptions) {
    this.#surroundings = {
      broker,
      limits: { ...defaultLimits, ...limits },
      authenticate: authenticate ?? usersOf(broker.access),
      properties: serverProperties(versionOf(broker)),
      pool: new BufferPool(),
      flusher: new Flusher(),
      watermark: new Watermark(memory ?? processMemory()),
      now: () => performance.now(),
      log: (error) => log?.(error),
      forget: (connection) => this.#forget(connection),
    };
    const accept = (socket: Socket): void => this.#accept(socket);
    this.#server =
      tls === undefined
        ? createServer({ noDelay: true, keepAlive: true }, accept)
        : createTlsServer({ noDelay: true, keepAlive: true, ...secured(tls) }, accept);
    if (tls !== undefined) this.#server.on('tlsClientError', (_, socket: Socket) => socket.destroy());
    this.#timer = setInterval(() => this.#tick(), interval).unref();
  }

  get host(): string {
    return (this.#server.address() as AddressInfo).address;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): ReadonlySet<ClientConnection> {
    return this.#connections;
  }

  open(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port, backlog: 1024 }, () => {
        this.#server.off('error', reject);
        this.#server.on('error', (error) => this.#surroundings.log(error));
        resolve();
      });
    });
  }

  /** Lets nobody in any more and tells all clients to go (320). @returns when they have gone, or had their time */
  async close(reason = "broker forced connection closure with reason 'shutdown'"): Promise<void> {
    this.#server.close();
    const error = new AmqpError('CONNECTION_FORCED', reason);
    for (const connection of this.#connections) connection.force(error);
    if (this.#connections.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, farewell);
        this.#whenEmpty = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    clearInterval(this.#timer);
    for (const { socket } of this.#connections) socket.destroy();
  }

  #accept(socket: Socket): void {
    if (this.#connections.size >= this.#surroundings.limits.connections) return void socket.destroy();
    this.#connections.add(new ClientConnection(socket, this.#surroundings));
  }

  #forget(connection: ClientConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size === 0) this.#whenEmpty?.();
  }

  #tick(): void {
    const { now, limits, watermark } = this.#surroundings;
    const time = now();
    if (watermark.look()) for (const connection of this.#connections) connection.unblock();
    for (const connection of this.#connections) {
      if (!connection.isShakingHands) connection.traffic.tick(time, connection.tuning.heartbeat);
      else if (time - connection.connectedAt >= limits.handshake) connection.socket.destroy();
    }
  }
}

const secured = ({ cert, key, ca }: TlsOptions) => ({
  cert,
  key,
  minVersion: 'TLSv1.2' as const,
  ...(ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true }),
});
