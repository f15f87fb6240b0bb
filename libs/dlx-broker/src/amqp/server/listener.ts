import type { AddressInfo, Socket } from 'node:net';
import { AmqpError, type Broker } from '../../engine/broker/index.js';
import {
  type Alarm,
  Alarms,
  memoryAlarm,
  MemoryNotice,
  type MemoryUse,
  processMemory,
} from '../../platform/alarms/index.js';
import { bind, opened } from '../../platform/index.js';
import { loginsOf, type PendingLogin, PendingLogins } from '../../platform/logins/index.js';
import { BufferPool } from '../wire/index.js';
import { Acceptor } from './acceptor.js';
import { ClientConnection } from './connection.js';
import { defaultLimits, UnfinishedFrames } from './limits.js';
import { type ListenOptions, serverProperties } from './listen-options.js';
import { type Arrival, Flusher, type ListenerContext, processRuntime, type Runtime } from './listener-context.js';

/** What {@link MemoryRelief} needs. */
interface MemoryReliefRules {
  readonly alarms: Alarms;
  readonly memory: () => MemoryUse;
  /** Milliseconds; see `limits.unfinishedUnderAlarm`. */
  readonly timeout: number;
  /**
   * Bytes that all connections together may have received without being read further. Blocked publishers have some each, as on
   * RabbitMQ; above this many they count as well. See `limits.unfinishedFrames`.
   */
  readonly unread: number;
  /** Gets a line for each connection that was closed. */
  readonly notice: (text: string) => void;
}

/**
 * Ends a memory alarm that would never end by itself: one that lasts because of messages that are not complete or not
 * committed. Their publishers wait for the alarm, and it waits for them.
 */
class MemoryRelief {
  readonly #rules: MemoryReliefRules;
  /** When the alarm was raised, or when connections were checked last. */
  #since: number | undefined;

  constructor(rules: MemoryReliefRules) {
    this.#rules = rules;
  }

  /** @param now milliseconds of a clock that never goes back */
  check(now: number, connections: Iterable<ClientConnection>): void {
    const { alarms, memory, timeout } = this.#rules;
    if (!alarms.raised.includes('memory')) return void (this.#since = undefined);
    this.#since ??= now;
    if (now - this.#since < timeout) return;
    this.#since = now;
    const { used, limit } = memory();
    this.#relieve(used - limit, connections);
  }

  /** Closes those that hold most, until so many bytes are free; none when all of them together hold less. */
  #relieve(needed: number, connections: Iterable<ClientConnection>): void {
    const all = [...connections];
    const counts = all.reduce((sum, { waiting }) => sum + waiting, 0) > this.#rules.unread;
    const held = all
      .map((connection) => ({ connection, bytes: unreadBytesOf(connection) + (counts ? connection.waiting : 0) }))
      .filter(holds);
    const sum = held.reduce((before, { bytes }) => before + bytes, 0);
    if (needed <= 0 || sum < needed) return;
    held.sort((one, other) => other.bytes - one.bytes);
    let missing = needed;
    for (const { connection, bytes } of held) {
      if (missing <= 0) return;
      missing -= bytes;
      this.#rules.notice(
        `memory is short: closes ${connection.engine.client?.name}, whose unfinished or unread messages hold ${bytes} bytes`,
      );
      connection.shed(tooLong(bytes));
    }
  }
}

/** Bytes of a connection's frames and messages that are not complete or not committed. Looks at every channel. */
export function unreadBytesOf({ isOpen, held, unfinished, channels }: ClientConnection): number {
  if (!isOpen) return 0;
  let bytes = held + unfinished.bytes;
  for (const { engine } of channels.values()) bytes += engine.transaction?.bytes ?? 0;
  return bytes;
}

const holds = ({ bytes }: { readonly bytes: number }): boolean => bytes > 0;

const tooLong = (bytes: number): AmqpError =>
  new AmqpError(
    'RESOURCE_ERROR',
    `memory is short, and ${bytes} bytes of it are held by messages of this connection that are not complete, not committed or not read yet; publish them again, or raise limits.unfinishedUnderAlarm`,
  );

/** Milliseconds between checks of heartbeats, handshakes and alarms. */
const interval = 500;

/** Milliseconds that clients have to answer `connection.close` when the listener closes. */
const closeTimeout = 2_000;

/** The connections of a listener. Their sockets come from an acceptor, or from a simulation. */
export class ClientConnections {
  readonly all = new Set<ClientConnection>();
  readonly context: ListenerContext<ClientConnection>;
  /** Those that have logged in. */
  readonly #loggedIn = new Set<ClientConnection>();
  readonly #pendingLogins: PendingLogins;
  readonly #memoryRelief: MemoryRelief;
  readonly #memoryNotice: MemoryNotice;
  #cancelTick: () => void;
  #whenEmpty: (() => void) | undefined;

  /** @param onTick called twice a second */
  constructor(
    broker: Broker,
    options: Omit<ListenOptions, 'host' | 'port' | 'tls'>,
    runtime: Runtime,
    private readonly onTick: () => void = () => undefined,
  ) {
    const { limits, memory = processMemory(), alarms = [], log, notice } = options;
    const { now } = runtime;
    const limited = { ...defaultLimits, ...limits };
    this.context = {
      ...runtime,
      broker,
      limits: limited,
      logins: loginsOf(broker.access, { ...options, now }),
      properties: serverProperties(broker, options.http),
      pool: new BufferPool(),
      flusher: new Flusher(runtime.later),
      alarms: new Alarms([memoryAlarm(memory), ...alarms]),
      frames: new UnfinishedFrames(limited.unfinishedFrames),
      log: (error) => log?.(error),
      entered: (connection) => this.#entered(connection),
      forget: (connection) => this.#forget(connection),
    };
    const { pendingLoginsOfAddress: ofAddress, pendingLogins: all } = limited;
    this.#memoryNotice = new MemoryNotice(memory, (text) => notice?.(text));
    this.#memoryRelief = new MemoryRelief({
      alarms: this.context.alarms,
      memory,
      timeout: limited.unfinishedUnderAlarm,
      unread: limited.unfinishedFrames,
      notice: (text) => notice?.(text),
    });
    this.#pendingLogins = new PendingLogins({ ofAddress, all }, now);
    this.#cancelTick = this.context.after(interval, this.#tick);
  }

  /** The port is open: checks the alarms, because the first client is blocked as well if a resource is short. */
  opened(): void {
    this.context.alarms.check();
    this.#memoryNotice.starts(this.#isMemoryShort);
  }

  get #isMemoryShort(): boolean {
    return this.context.alarms.raised.includes('memory');
  }

  /** A socket was accepted. @returns undefined when there is no room: all connections have logged in, or their logins are being checked */
  arrive(socket: Socket): PendingLogin | undefined {
    const isFull = this.#pendingLogins.count + this.#loggedIn.size >= this.context.limits.connections;
    if (isFull && !this.#pendingLogins.closeOldest()) return undefined;
    return this.#pendingLogins.add(socket.remoteAddress ?? '', () => socket.destroy());
  }

  /** A socket is ready for AMQP. */
  enter(socket: Socket, arrival: Arrival): void {
    this.all.add(new ClientConnection(socket, this.context, arrival));
  }

  /** Closes all connections (320). @returns a promise that resolves when they are closed, or after a timeout */
  async close(reason: string): Promise<void> {
    const error = new AmqpError('CONNECTION_FORCED', reason);
    for (const connection of this.all) connection.force(error);
    if (this.all.size > 0) {
      await new Promise<void>((resolve) => {
        const cancel = this.context.after(closeTimeout, resolve);
        this.#whenEmpty = () => {
          cancel();
          resolve();
        };
      });
    }
    this.#cancelTick();
    for (const { flow } of this.all) flow.drop();
  }

  #entered(connection: ClientConnection): void {
    connection.arrival.pendingLogin.remove();
    this.#loggedIn.add(connection);
  }

  #forget(connection: ClientConnection): void {
    connection.arrival.pendingLogin.remove();
    this.#loggedIn.delete(connection);
    this.all.delete(connection);
    if (this.all.size === 0) this.#whenEmpty?.();
  }

  readonly #tick = (): void => {
    this.#cancelTick = this.context.after(interval, this.#tick);
    const { now, limits, alarms } = this.context;
    const time = now();
    this.onTick();
    if (alarms.check()) for (const connection of this.all) connection.unblock();
    this.#memoryNotice.checked(this.#isMemoryShort);
    this.#memoryRelief.check(time, this.#loggedIn);
    for (const connection of this.all) {
      if (!connection.isShakingHands) connection.flow.tick(time, connection.tuning.heartbeat);
      else if (time - connection.arrival.at >= limits.handshake) connection.flow.drop();
    }
  };
}

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
