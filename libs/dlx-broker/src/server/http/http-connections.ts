import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { endsOf, type PendingLogin, PendingLogins } from '../../platform/logins/index.js';
import { Problem } from './reply.js';

/** The limits of connections of the HTTP API. */
export interface ConnectionLimits {
  readonly connections: number;
  /** The most connections of one user. */
  readonly connectionsOfUser: number;
  /** The most connections without a login: of one address, and in all. */
  readonly pendingLoginsOfAddress: number;
  readonly pendingLogins: number;
}

export const defaultConnectionLimits: ConnectionLimits = {
  connections: 1_000,
  connectionsOfUser: 256,
  pendingLoginsOfAddress: 100,
  pendingLogins: 400,
};

/** The calls of the API to the port, for one request. */
export interface Visit {
  /**
   * The request was authenticated.
   * @throws Problem 429 when the user has too many connections
   */
  entered(user: string): void;
}

/** One connection of the HTTP API. */
interface HttpConnection {
  readonly plain: Socket;
  readonly ends: string;
  /** The pending login; undefined once the client has logged in. */
  pendingLogin: PendingLogin | undefined;
  /** The user that logged in last. */
  user: string | undefined;
  /** The number of requests whose answers have not ended. */
  active: number;
}

/** The connections of the HTTP API: decides which of them makes room for others. */
export class HttpConnections {
  readonly #limits: ConnectionLimits;
  readonly #pendingLogins: PendingLogins;
  readonly #open = new Set<HttpConnection>();
  /** Authenticated connections between two requests; the one that is idle longest is first. */
  readonly #idle = new Set<HttpConnection>();
  readonly #ofUser = new Map<string, number>();
  readonly #bySocket = new WeakMap<object, HttpConnection>();
  /** By the addresses of both ends, which the encrypted and the plain side of a socket share. */
  readonly #byEnds = new Map<string, HttpConnection>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(limits: ConnectionLimits, now: () => number) {
    const { pendingLoginsOfAddress: ofAddress, pendingLogins: all } = limits;
    this.#limits = limits;
    this.#pendingLogins = new PendingLogins({ ofAddress, all }, now);
  }

  get count(): number {
    return this.#open.size;
  }

  /** Accepts a socket. Without room the socket ends without an answer. */
  accept(socket: Socket): void {
    if (this.#open.size >= this.#limits.connections && !this.#makeRoom()) return void socket.destroy();
    const ends = endsOf(socket);
    const connection: HttpConnection = { plain: socket, ends, pendingLogin: undefined, user: undefined, active: 0 };
    this.#byEnds.set(connection.ends, connection);
    this.#open.add(connection);
    connection.pendingLogin = this.#pendingLogins.add(socket.remoteAddress ?? '', () => this.#drop(connection));
    this.#bySocket.set(socket, connection);
    socket.once('close', () => this.#forget(connection));
  }

  /** The TLS handshake of a socket has ended. */
  secured(socket: Socket): void {
    const connection = this.#byEnds.get(endsOf(socket));
    if (connection === undefined) return void socket.destroy();
    this.#bySocket.set(socket, connection);
  }

  /** A request has arrived up to its body. Undefined if its connection had to make room meanwhile. */
  visit({ socket }: Pick<IncomingMessage, 'socket'>, response: Pick<ServerResponse, 'once'>): Visit | undefined {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined || !this.#open.has(connection)) return undefined;
    this.#begins(connection);
    response.once('close', () => this.#ends(connection));
    return { entered: (user) => this.#entered(connection, user) };
  }

  #makeRoom(): boolean {
    if (this.#pendingLogins.closeOldest()) return true;
    const oldest = this.#idle.values().next().value;
    if (oldest !== undefined) this.#drop(oldest);
    return oldest !== undefined;
  }

  #begins(connection: HttpConnection): void {
    connection.active++;
    connection.pendingLogin?.busy();
    this.#idle.delete(connection);
  }

  #ends(connection: HttpConnection): void {
    if (--connection.active > 0 || !this.#open.has(connection)) return;
    connection.pendingLogin?.idle();
    if (connection.user !== undefined) this.#idle.add(connection);
  }

  #entered(connection: HttpConnection, user: string): void {
    if (connection.user === user) return;
    const count = this.#ofUser.get(user) ?? 0;
    if (count >= this.#limits.connectionsOfUser && !this.#dropIdleOf(user)) throw tooMany(count);
    this.#leaveUser(connection);
    connection.user = user;
    this.#ofUser.set(user, (this.#ofUser.get(user) ?? 0) + 1);
    connection.pendingLogin?.remove();
    connection.pendingLogin = undefined;
  }

  #dropIdleOf(user: string): boolean {
    for (const connection of this.#idle) {
      if (connection.user !== user) continue;
      this.#drop(connection);
      return true;
    }
    return false;
  }

  #leaveUser({ user }: HttpConnection): void {
    if (user === undefined) return;
    const count = (this.#ofUser.get(user) ?? 1) - 1;
    if (count === 0) this.#ofUser.delete(user);
    else this.#ofUser.set(user, count);
  }

  #drop(connection: HttpConnection): void {
    this.#forget(connection);
    connection.plain.destroy();
  }

  #forget(connection: HttpConnection): void {
    if (!this.#open.delete(connection)) return;
    if (this.#byEnds.get(connection.ends) === connection) this.#byEnds.delete(connection.ends);
    this.#idle.delete(connection);
    this.#leaveUser(connection);
    connection.pendingLogin?.remove();
  }
}

const tooMany = (count: number): Problem =>
  new Problem(429, 'too_many_requests', `${count} connections of this user are open`, { connection: 'close' });
