import type { Socket } from 'node:net';
import { Alarms, memoryAlarm, processMemory } from '../alarms/index.js';
import { AmqpError, type Broker } from '../broker/index.js';
import { loginsOf, type PendingLogin, PendingLogins } from '../logins/index.js';
import { BufferPool } from '../wire/index.js';
import { ClientConnection } from './connection.js';
import { Flusher } from './flusher.js';
import { serverProperties } from './handshake.js';
import { defaultLimits } from './limits.js';
import type { ListenOptions } from './listen-options.js';
import type { ListenerContext } from './listener-context.js';
import { Shortage } from './shortage.js';
import type { Surroundings } from './surroundings.js';
import { UnfinishedFrames } from './unfinished-frames.js';

/** Milliseconds between looks at heartbeats, handshakes and alarms. */
const interval = 500;

/** Milliseconds that clients have to answer `connection.close` when the listener closes. */
const closeTimeout = 2_000;

/** The connections of a listener, from wherever their sockets come. */
export class Reception {
  readonly connections = new Set<ClientConnection>();
  readonly context: ListenerContext<ClientConnection>;
  /** Those that have logged in. */
  readonly #loggedIn = new Set<ClientConnection>();
  readonly #pendingLogins: PendingLogins;
  readonly #shortage: Shortage;
  #cancelTick: () => void;
  #whenEmpty: (() => void) | undefined;

  /** @param looked called twice a second */
  constructor(
    broker: Broker,
    options: Omit<ListenOptions, 'host' | 'port' | 'tls'>,
    surroundings: Surroundings,
    private readonly looked: () => void = () => undefined,
  ) {
    const { limits, memory = processMemory(), alarms = [], log, notice } = options;
    const { now } = surroundings;
    const limited = { ...defaultLimits, ...limits };
    this.context = {
      ...surroundings,
      broker,
      limits: limited,
      logins: loginsOf(broker.access, { ...options, now }),
      properties: serverProperties(broker, options.http),
      pool: new BufferPool(),
      flusher: new Flusher(surroundings.later),
      alarms: new Alarms([memoryAlarm(memory), ...alarms]),
      frames: new UnfinishedFrames(limited.unfinishedFrames),
      log: (error) => log?.(error),
      entered: (connection) => this.#entered(connection),
      forget: (connection) => this.#forget(connection),
    };
    const { pendingLoginsOfAddress: ofAddress, pendingLogins: all } = limited;
    this.#shortage = new Shortage({
      alarms: this.context.alarms,
      memory,
      timeout: limited.unfinishedUnderAlarm,
      unread: limited.unfinishedFrames,
      notice: (text) => notice?.(text),
    });
    this.#pendingLogins = new PendingLogins({ ofAddress, all }, now);
    this.#cancelTick = this.context.after(interval, this.#tick);
  }

  /** A socket was accepted. @returns undefined when there is no room: all connections have logged in, or their logins are being checked */
  arrive(socket: Socket): PendingLogin | undefined {
    const isFull = this.#pendingLogins.count + this.#loggedIn.size >= this.context.limits.connections;
    if (isFull && !this.#pendingLogins.closeOldest()) return undefined;
    return this.#pendingLogins.add(socket.remoteAddress ?? '', () => socket.destroy());
  }

  /** A socket is ready for AMQP. @param since when the system accepted it */
  enter(socket: Socket, since: number, pendingLogin: PendingLogin): void {
    this.connections.add(new ClientConnection(socket, this.context, { at: since, pendingLogin }));
  }

  /** Closes all connections (320). @returns when they are closed, or their time is over */
  async close(reason: string): Promise<void> {
    const error = new AmqpError('CONNECTION_FORCED', reason);
    for (const connection of this.connections) connection.force(error);
    if (this.connections.size > 0) {
      await new Promise<void>((resolve) => {
        const cancel = this.context.after(closeTimeout, resolve);
        this.#whenEmpty = () => {
          cancel();
          resolve();
        };
      });
    }
    this.#cancelTick();
    for (const { socket } of this.connections) socket.destroy();
  }

  #entered(connection: ClientConnection): void {
    connection.arrival.pendingLogin.remove();
    this.#loggedIn.add(connection);
  }

  #forget(connection: ClientConnection): void {
    connection.arrival.pendingLogin.remove();
    this.#loggedIn.delete(connection);
    this.connections.delete(connection);
    if (this.connections.size === 0) this.#whenEmpty?.();
  }

  readonly #tick = (): void => {
    this.#cancelTick = this.context.after(interval, this.#tick);
    const { now, limits, alarms } = this.context;
    const time = now();
    this.looked();
    if (alarms.check()) for (const connection of this.connections) connection.unblock();
    this.#shortage.check(time, this.#loggedIn);
    for (const connection of this.connections) {
      if (!connection.isShakingHands) connection.traffic.tick(time, connection.tuning.heartbeat);
      else if (time - connection.arrival.at >= limits.handshake) connection.socket.destroy();
    }
  };
}
