import type { Socket } from 'node:net';
import { networkOf } from './login-throttle.js';

/** How many connections of a port may have no login. */
interface PendingLimits {
  /** Of one address, or of one IPv6 network of 64 bits. */
  readonly ofAddress: number;
  readonly all: number;
  /** Milliseconds of silence after which a connection may be closed to make room for another. Default 1,000. */
  readonly idleTimeout?: number;
}

const defaultIdleTimeout = 1_000;

/** The pending logins of one network. */
interface Network {
  readonly key: string;
  /** Those of silent clients, the longest silence first. */
  readonly silent: Set<PendingLogin>;
  count: number;
}

/** A connection whose client has not logged in. */
export class PendingLogin {
  /** When its client fell silent; undefined while the client is being answered. */
  silentSince: number | undefined;

  constructor(
    readonly all: PendingLogins,
    readonly network: Network,
    /** Ends the connection. */
    readonly close: () => void,
  ) {}

  /** The client is being answered. The connection is not closed meanwhile. */
  busy(): void {
    this.all.setSilent(this, false);
  }

  /** The client was answered. Its silence begins. */
  idle(): void {
    this.all.setSilent(this, true);
  }

  /** The client has logged in, or the connection is gone. */
  remove(): void {
    this.all.remove(this);
  }
}

/**
 * The connections of a port that have no login. When there are too many, of an address or in all, the connections that have been
 * silent longest are closed. So silent connections keep no client out: a client that logs in speaks at once.
 */
export class PendingLogins {
  readonly #limits: PendingLimits;
  readonly #now: () => number;
  readonly #all = new Set<PendingLogin>();
  /** Those of silent clients, the longest silence first. */
  readonly #silent = new Set<PendingLogin>();
  readonly #networks = new Map<string, Network>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(limits: PendingLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  get count(): number {
    return this.#all.size;
  }

  /**
   * Adds a new connection. Others may be closed to make room for it.
   * @param close ends this connection, when it has to make room later
   */
  add(address: string, close: () => void): PendingLogin {
    const { ofAddress, all } = this.#limits;
    const network = this.#network(networkOf(address));
    this.#makeRoom(() => network.count >= ofAddress, network.silent);
    this.#makeRoom(() => this.#all.size >= all, this.#silent);
    const login = new PendingLogin(this, network, close);
    this.#networks.set(network.key, network);
    network.count++;
    this.#all.add(login);
    this.setSilent(login, true);
    return login;
  }

  /** Closes the connection that has been silent longest, however short that is. False when none is silent. */
  closeOldest(): boolean {
    return this.#close(this.#silent);
  }

  /** See {@link PendingLogin}. */
  setSilent(login: PendingLogin, isSilent: boolean): void {
    if (!this.#all.has(login)) return;
    const { silent } = login.network;
    silent.delete(login);
    this.#silent.delete(login);
    login.silentSince = isSilent ? this.#now() : undefined;
    if (!isSilent) return;
    silent.add(login);
    this.#silent.add(login);
  }

  remove(login: PendingLogin): void {
    if (!this.#all.delete(login)) return;
    const { network } = login;
    network.silent.delete(login);
    this.#silent.delete(login);
    if (--network.count === 0) this.#networks.delete(network.key);
  }

  #network(key: string): Network {
    return this.#networks.get(key) ?? { key, silent: new Set(), count: 0 };
  }

  #makeRoom(isFull: () => boolean, among: ReadonlySet<PendingLogin>): void {
    const latest = this.#now() - (this.#limits.idleTimeout ?? defaultIdleTimeout);
    while (isFull()) if (!this.#close(among, latest)) return;
  }

  /** @param latest closes only a connection that fell silent by then */
  #close(among: ReadonlySet<PendingLogin>, latest = Infinity): boolean {
    const oldest = among.values().next().value;
    if (oldest === undefined || (oldest.silentSince as number) > latest) return false;
    this.remove(oldest);
    oldest.close();
    return true;
  }
}

/** Both ends of a socket as one text: unique at a port, and the same for the encrypted and the plain side of a socket. */
export const endsOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;
