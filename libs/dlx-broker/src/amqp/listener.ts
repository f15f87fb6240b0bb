import type { AddressInfo, Socket } from 'node:net';
import { type Alarm, Alarms, memoryAlarm, type MemoryUse, processMemory } from '../alarms/index.js';
import { AmqpError, type Broker, versionOf } from '../broker/index.js';
import { type Authenticate, loginsOf, type LoginThrottle, type PendingLogin, PendingLogins } from '../logins/index.js';
import { ClientConnection } from './connection.js';
import { Acceptor, type TlsOptions } from './acceptor.js';
import { Flusher } from './flusher.js';
import { UnfinishedFrames } from './unfinished-frames.js';
import { type HttpPlace, serverProperties } from './handshake.js';
import { defaultLimits, type Limits } from './limits.js';
import { Shortage } from './shortage.js';
import type { ListenerContext } from './listener-context.js';
import { BufferPool } from '../wire/index.js';

export interface ListenOptions {
  /** Default `127.0.0.1`, so that other machines have access only on purpose. */
  readonly host?: string;
  /** Default 5672; 0 is any free port. */
  readonly port?: number;
  readonly tls?: TlsOptions;
  readonly limits?: Partial<Limits>;
  /** Checks logins. Default: the users of the broker. */
  readonly authenticate?: Authenticate;
  /** Measures memory; above its limit publishers are blocked. Default: the memory of this process. */
  readonly memory?: () => MemoryUse;
  /** Further alarms, such as that of the disk. Publishers go on when no alarm is raised. */
  readonly alarms?: readonly Alarm[];
  /** Shared with other listeners, so that guessing at one port counts at all. */
  readonly throttle?: LoginThrottle;
  /** The management API of the same broker: clients get its port (rule T9). */
  readonly http?: HttpPlace;
  /** Gets log lines about clients, such as refused logins; never a password. */
  readonly notice?: (text: string) => void;
  /** Gets internal faults. An error of a client is none. */
  readonly log?: (error: unknown) => void;
}

/** Milliseconds between looks at heartbeats, handshakes and alarms. */
const interval = 500;

/** Milliseconds that clients have to answer `connection.close` when the listener closes. */
const closeTimeout = 2_000;

/** Opens a port for AMQP 0-9-1 clients. @returns once clients can connect @throws what the system says, e.g. EADDRINUSE */
export async function listen(broker: Broker, options: ListenOptions = {}): Promise<Listener> {
  const listener = new Listener(broker, options);
  await listener.open(options.host ?? '127.0.0.1', options.port ?? 5672);
  return listener;
}

/** A port and the connections that came in through it. */
export class Listener {
  readonly #acceptor: Acceptor;
  readonly #context: ListenerContext<ClientConnection>;
  readonly #connections = new Set<ClientConnection>();
  /** Those that have logged in. */
  readonly #loggedIn = new Set<ClientConnection>();
  readonly #pendingLogins: PendingLogins;
  readonly #shortage: Shortage;
  readonly #timer: NodeJS.Timeout;
  #whenEmpty: (() => void) | undefined;

  /** See {@link listen}. */
  constructor(broker: Broker, options: ListenOptions) {
    const { tls, limits, memory = processMemory(), alarms = [], log, notice } = options;
    const now = (): number => performance.now();
    const limited = { ...defaultLimits, ...limits };
    this.#context = {
      broker,
      limits: limited,
      logins: loginsOf(broker.access, { ...options, now }),
      properties: serverProperties(versionOf(broker), options.http),
      pool: new BufferPool(),
      flusher: new Flusher(),
      alarms: new Alarms([memoryAlarm(memory), ...alarms]),
      frames: new UnfinishedFrames(limited.unfinishedFrames),
      now,
      log: (error) => log?.(error),
      entered: (connection) => this.#entered(connection),
      forget: (connection) => this.#forget(connection),
    };
    const { pendingLoginsOfAddress: ofAddress, pendingLogins: all } = limited;
    this.#shortage = new Shortage({
      alarms: this.#context.alarms,
      memory,
      patience: limited.unfinishedUnderAlarm,
      unread: limited.unfinishedFrames,
      notice: (text) => notice?.(text),
    });
    this.#pendingLogins = new PendingLogins({ ofAddress, all }, now);
    this.#acceptor = new Acceptor(tls, {
      now: this.#context.now,
      arrive: (socket) => this.#arrive(socket),
      enter: (socket, since, pendingLogin) => this.#accept(socket, since, pendingLogin),
    });
    this.#timer = setInterval(() => this.#tick(), interval).unref();
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
    return this.#context.alarms.raised;
  }

  get connections(): ReadonlySet<ClientConnection> {
    return this.#connections;
  }

  open(host: string, port: number): Promise<void> {
    const { server } = this.#acceptor;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, backlog: 1024 }, () => {
        server.off('error', reject);
        this.#context.alarms.look(); // the first client is blocked as well if a resource is short
        server.on('error', (error) => this.#context.log(error));
        resolve();
      });
    });
  }

  /**
   * Accepts no client any more and closes all connections (320). @returns when they are closed, or their time is over
   */
  async close(reason = "broker forced connection closure with reason 'shutdown'"): Promise<void> {
    this.#acceptor.close();
    const error = new AmqpError('CONNECTION_FORCED', reason);
    for (const connection of this.#connections) connection.force(error);
    if (this.#connections.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, closeTimeout);
        this.#whenEmpty = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    clearInterval(this.#timer);
    for (const { socket } of this.#connections) socket.destroy();
  }

  /** Undefined when there is no room: all connections have logged in, or their logins are being checked. */
  #arrive(socket: Socket): PendingLogin | undefined {
    const isFull = this.#pendingLogins.count + this.#loggedIn.size >= this.#context.limits.connections;
    if (isFull && !this.#pendingLogins.closeOldest()) return undefined;
    return this.#pendingLogins.add(socket.remoteAddress ?? '', () => socket.destroy());
  }

  #accept(socket: Socket, since: number, pendingLogin: PendingLogin): void {
    this.#connections.add(new ClientConnection(socket, this.#context, { at: since, pendingLogin }));
  }

  #entered(connection: ClientConnection): void {
    connection.arrival.pendingLogin.remove();
    this.#loggedIn.add(connection);
  }

  #forget(connection: ClientConnection): void {
    connection.arrival.pendingLogin.remove();
    this.#loggedIn.delete(connection);
    this.#connections.delete(connection);
    if (this.#connections.size === 0) this.#whenEmpty?.();
  }

  #tick(): void {
    const { now, limits, alarms } = this.#context;
    const time = now();
    this.#acceptor.endOverdue(limits.handshake);
    if (alarms.look()) for (const connection of this.#connections) connection.unblock();
    this.#shortage.look(time, this.#loggedIn);
    for (const connection of this.#connections) {
      if (!connection.isShakingHands) connection.traffic.tick(time, connection.tuning.heartbeat);
      else if (time - connection.arrival.at >= limits.handshake) connection.socket.destroy();
    }
  }
}
