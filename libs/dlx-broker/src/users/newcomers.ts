import { networkOf } from './login-throttle.js';

/** How many clients may be there that have not logged in. */
export interface NewcomerLimits {
  /** Of one address, or of one IPv6 network of 64 bits. */
  readonly ofAddress: number;
  readonly all: number;
  /** Milliseconds of silence after which one may have to make room for others: a second unless the limits say otherwise. */
  readonly patience?: number;
}

const usualPatience = 1_000;

/** The clients of one network. */
interface Network {
  readonly key: string;
  /** Those that say nothing, the oldest first. */
  readonly silent: Set<Newcomer>;
  count: number;
}

/** A connection whose client has not logged in. */
export class Newcomer {
  /** When it fell silent; undefined while something of it is being answered. */
  silentSince: number | undefined;

  constructor(
    readonly newcomers: Newcomers,
    readonly network: Network,
    /** Ends the connection. */
    readonly drop: () => void,
  ) {}

  /** It has said something that is being answered: it is not dropped meanwhile. */
  speaks(): void {
    this.newcomers.quiet(this, false);
  }

  /** It is silent again. */
  rests(): void {
    this.newcomers.quiet(this, true);
  }

  /** It has logged in, or is gone. */
  leave(): void {
    this.newcomers.forget(this);
  }
}

/**
 * The clients of a port that have not logged in. When there are too many, of an address or in all, those that have been
 * silent longest are dropped: silent connections keep no client out, for one that logs in speaks at once.
 */
export class Newcomers {
  readonly #limits: NewcomerLimits;
  readonly #now: () => number;
  readonly #all = new Set<Newcomer>();
  /** Those that say nothing, the oldest first. */
  readonly #silent = new Set<Newcomer>();
  readonly #networks = new Map<string, Network>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(limits: NewcomerLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  get count(): number {
    return this.#all.size;
  }

  /** A client has connected. Others may be dropped for it. */
  arrived(address: string, drop: () => void): Newcomer {
    const { ofAddress, all } = this.#limits;
    const network = this.#network(networkOf(address));
    this.#makeRoom(() => network.count >= ofAddress, network.silent);
    this.#makeRoom(() => this.#all.size >= all, this.#silent);
    const newcomer = new Newcomer(this, network, drop);
    this.#networks.set(network.key, network);
    network.count++;
    this.#all.add(newcomer);
    this.quiet(newcomer, true);
    return newcomer;
  }

  /** Drops the one that has been silent longest, however short that is. False when none is silent. */
  dropOldest(): boolean {
    return this.#drop(this.#silent);
  }

  /** See {@link Newcomer}. */
  quiet(newcomer: Newcomer, isSilent: boolean): void {
    if (!this.#all.has(newcomer)) return;
    const { silent } = newcomer.network;
    silent.delete(newcomer);
    this.#silent.delete(newcomer);
    newcomer.silentSince = isSilent ? this.#now() : undefined;
    if (!isSilent) return;
    silent.add(newcomer);
    this.#silent.add(newcomer);
  }

  forget(newcomer: Newcomer): void {
    if (!this.#all.delete(newcomer)) return;
    const { network } = newcomer;
    network.silent.delete(newcomer);
    this.#silent.delete(newcomer);
    if (--network.count === 0) this.#networks.delete(network.key);
  }

  #network(key: string): Network {
    return this.#networks.get(key) ?? { key, silent: new Set(), count: 0 };
  }

  #makeRoom(isFull: () => boolean, among: ReadonlySet<Newcomer>): void {
    const latest = this.#now() - (this.#limits.patience ?? usualPatience);
    while (isFull()) if (!this.#drop(among, latest)) return;
  }

  /** @param latest only one that fell silent by then */
  #drop(among: ReadonlySet<Newcomer>, latest = Infinity): boolean {
    const oldest = among.values().next().value;
    if (oldest === undefined || (oldest.silentSince as number) > latest) return false;
    this.forget(oldest);
    oldest.drop();
    return true;
  }
}
