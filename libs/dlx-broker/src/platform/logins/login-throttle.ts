import { isIPv6 } from 'node:net';

/** How failures of one kind are paced. All times are milliseconds. */
interface Pace {
  /** Failures that may follow one another at once. */
  readonly burst: number;
  /** The time between two attempts after the burst. */
  readonly interval: number;
  /** No attempt waits longer than this, however many come before it. */
  readonly longest: number;
}

const ofUser: Pace = { burst: 5, interval: 1_000, longest: 5_000 };
const ofNetwork: Pace = { burst: 50, interval: 50, longest: 2_000 };

/** How long a login at an address is remembered. */
const memory = 15 * 60_000;

/** How many addresses and users at addresses are remembered. The oldest are forgotten first. */
const remembered = 10_000;

/** Attempts that wait at a time: of one address, and of all. */
const mostWaiting = { ofNetwork: 64, all: 1_000 };

interface Record {
  /** The time at which all failures so far are paid for by waiting. */
  readonly paidAt: number;
  /** The stored password of the user at the last failure. */
  readonly kept: string | undefined;
  /** When the user last logged in here; undefined for never. */
  readonly knownAt: number | undefined;
}

/** A login attempt: the user and the address. */
export interface Guess {
  readonly address: string;
  readonly user: string;
  /** The stored password of the user now. After a change of the password earlier failures do not count. */
  readonly kept: string | undefined;
}

/** When a password may be checked. */
interface LoginTurn {
  /** Milliseconds from now; 0 for at once. Undefined: too many attempts wait, and this one is refused unchecked. */
  readonly wait: number | undefined;
}

/**
 * Makes guessing slow without locking users out. An attempt is checked at once as long as the user at this address, and the
 * address as a whole, have failed only a few times. Later attempts wait for their turn. So a right password is always accepted,
 * after five seconds at worst. An attack from another address does not delay a user, and neither do failures from before the
 * password was changed.
 */
export class LoginThrottle {
  readonly #now: () => number;
  /** In the order of the last change. */
  readonly #records = new Map<string, Record>();
  /** How many attempts wait, by network. A network without a waiting attempt has no entry. */
  readonly #waiting = new Map<string, number>();
  #allWaiting = 0;

  /** @param now the time in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** How many attempts wait for their turn. */
  get waiting(): number {
    return this.#allWaiting;
  }

  /** Takes a turn. After a turn with a wait above 0 call {@link leave}, when the wait is over or the client has gone. */
  turn(guess: Guess): LoginTurn {
    if (this.#records.size === 0) return { wait: 0 };
    const now = this.#now();
    const network = networkOf(guess.address);
    const key = keyOf(network, guess.user);
    const own = this.#own(key, guess, now);
    const isKnown = own?.knownAt !== undefined;
    const all = isKnown ? undefined : this.#records.get(network);
    const ofAll = waitOf(all, ofNetwork, now);
    const wait = Math.max(waitOf(own, ofUser, now), ofAll);
    if (wait === 0) return { wait };
    const here = this.#waiting.get(network) ?? 0;
    if (here >= mostWaiting.ofNetwork || this.#allWaiting >= mostWaiting.all) return { wait: undefined };
    this.#waiting.set(network, here + 1);
    this.#allWaiting++;
    // The next attempt waits behind this one, whether this one succeeds or fails.
    if (own !== undefined) this.#keep(key, later(own, ofUser, now));
    if (all !== undefined && ofAll > 0) this.#keep(network, later(all, ofNetwork, now));
    return { wait };
  }

  /** The wait is over. */
  leave(address: string): void {
    const network = networkOf(address);
    const here = (this.#waiting.get(network) ?? 1) - 1;
    if (here === 0) this.#waiting.delete(network);
    else this.#waiting.set(network, here);
    this.#allWaiting--;
  }

  /** A password was checked and was right. */
  succeeded({ address, user, kept }: Guess): void {
    if (this.#records.size === 0) return;
    const network = networkOf(address);
    const key = keyOf(network, user);
    // A user who has logged in at this address does not wait for the failures of others there.
    if (this.#records.has(network)) this.#keep(key, { paidAt: 0, kept, knownAt: this.#now() });
    else this.#records.delete(key);
  }

  /** A password was checked and was wrong. @param waited true when the attempt had to wait for its turn */
  failed(guess: Guess, waited: boolean): void {
    if (waited) return;
    const now = this.#now();
    const network = networkOf(guess.address);
    const key = keyOf(network, guess.user);
    const own = this.#own(key, guess, now);
    const all = this.#records.get(network) ?? fresh(undefined);
    // Invented names must not fill the table. At a slow address they need no record of their own.
    if (own !== undefined || waitOf(all, ofNetwork, now) === 0) {
      this.#keep(key, later(own ?? fresh(guess.kept), ofUser, now));
    }
    // A program that retries an old password for ever must not delay other users of its address.
    if (own === undefined || waitOf(own, ofUser, now) === 0) this.#keep(network, later(all, ofNetwork, now));
  }

  /** The record of the user at this address; undefined when there is none, or when it no longer counts. */
  #own(key: string, { kept }: Guess, now: number): Record | undefined {
    const record = this.#records.get(key);
    if (record === undefined) return undefined;
    if (record.kept !== kept) return void this.#records.delete(key);
    const { knownAt } = record;
    return knownAt !== undefined && now - knownAt > memory ? { ...record, knownAt: undefined } : record;
  }

  #keep(key: string, record: Record): void {
    this.#records.delete(key); // to the end of the order
    this.#records.set(key, record);
    if (this.#records.size > remembered) this.#records.delete(this.#records.keys().next().value as string);
  }
}

const fresh = (kept: string | undefined): Record => ({ paidAt: 0, kept, knownAt: undefined });

/** Milliseconds until the next attempt may be checked. */
function waitOf(record: Record | undefined, { burst, interval, longest }: Pace, now: number): number {
  if (record === undefined) return 0;
  return Math.min(longest, Math.max(0, record.paidAt - (burst - 1) * interval - now));
}

/** The record after one more failure. Its debt never grows beyond the longest wait. */
function later(record: Record, { burst, interval, longest }: Pace, now: number): Record {
  const most = now + (burst - 1) * interval + longest;
  return { ...record, paidAt: Math.min(most, Math.max(record.paidAt, now) + interval) };
}

/** The name is cut: a client may send one of any length. */
const keyOf = (network: string, user: string): string => `${network} ${user.slice(0, 255)}`;

/** @returns the part that all addresses of one client have in common: an IPv6 client has a network of addresses */
export function networkOf(address: string): string {
  if (address.startsWith('::ffff:') || !isIPv6(address)) return address.replace('::ffff:', '');
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':');
    while (groups.length + after.length < 8) groups.push('0');
  }
  return groups.slice(0, 4).join(':');
}
