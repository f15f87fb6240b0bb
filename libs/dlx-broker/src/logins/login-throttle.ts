import { isIPv6 } from 'node:net';

/** How failures of one kind are paced. All times are milliseconds. */
interface Pace {
  /** Failures that may follow one another at once. */
  readonly burst: number;
  /** Then a password is looked at once in so long. */
  readonly interval: number;
  /** No attempt waits longer than this, however many come before it. */
  readonly longest: number;
}

const ofUser: Pace = { burst: 5, interval: 1_000, longest: 5_000 };
const ofNetwork: Pace = { burst: 50, interval: 50, longest: 2_000 };

/** After this long a user who logged in at an address is no longer known there. */
const memory = 15 * 60_000;

/** How many addresses and users at addresses are remembered; those that were quiet longest go first. */
const remembered = 10_000;

/** Attempts that wait at a time: of one address, and of all. */
const mostWaiting = { ofNetwork: 64, all: 1_000 };

interface Record {
  /** When all failures so far are made up for. */
  readonly paidAt: number;
  /** What the user's password was kept as at the last failure. */
  readonly kept: string | undefined;
  /** When the user last logged in here; undefined for never. */
  readonly knownAt: number | undefined;
}

/** Who attempts to log in, and where. */
export interface Guess {
  readonly address: string;
  readonly user: string;
  /** What the user's password is kept as now. When that has changed, earlier failures say nothing any more. */
  readonly kept: string | undefined;
}

/** When a password may be looked at. */
export interface LoginTurn {
  /** Milliseconds from now; 0 for at once. Undefined: too many wait, this one is refused unseen. */
  readonly wait: number | undefined;
}

/**
 * Makes guessing slow without locking anyone out. An attempt is looked at in its turn: at once as long as the user at
 * this address, and the address as a whole, have failed only a few times; after that so many in a second. So a right
 * password always gets in, five seconds late at worst. A user who is attacked from elsewhere notices nothing, nor
 * does a user whose password was set after the failures.
 */
export class LoginThrottle {
  readonly #now: () => number;
  /** In the order of the last change. */
  readonly #records = new Map<string, Record>();
  /** How many attempts wait, by network; only where some do. */
  readonly #waiting = new Map<string, number>();
  #allWaiting = 0;

  /** @param now milliseconds of a clock that is lent */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** How many attempts wait for their turn. */
  get waiting(): number {
    return this.#allWaiting;
  }

  /** Takes a turn. One with a wait above 0 is given back by {@link leave}, when it has come or the client has gone. */
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
    // What comes next waits behind this one, whatever this one comes to.
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

  /** A password was looked at and was right. */
  succeeded({ address, user, kept }: Guess): void {
    if (this.#records.size === 0) return;
    const network = networkOf(address);
    const key = keyOf(network, user);
    // Where others fail, a user who is known does not wait with them the next time.
    if (this.#records.has(network)) this.#keep(key, { paidAt: 0, kept, knownAt: this.#now() });
    else this.#records.delete(key);
  }

  /** A password was looked at and was wrong. @param waited whether the turn was paid for by a wait */
  failed(guess: Guess, waited: boolean): void {
    if (waited) return;
    const now = this.#now();
    const network = networkOf(guess.address);
    const key = keyOf(network, guess.user);
    const own = this.#own(key, guess, now);
    const all = this.#records.get(network) ?? fresh(undefined);
    // Made-up names fill no table: behind a slow address they are slow without a record of their own.
    if (own !== undefined || waitOf(all, ofNetwork, now) === 0) {
      this.#keep(key, later(own ?? fresh(guess.kept), ofUser, now));
    }
    // A program with an old password that never gives up does not slow its neighbours down.
    if (own === undefined || waitOf(own, ofUser, now) === 0) this.#keep(network, later(all, ofNetwork, now));
  }

  /** Undefined when nothing is remembered of the user here, or nothing that counts any more. */
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

/** Milliseconds until the next attempt may be looked at. */
function waitOf(record: Record | undefined, { burst, interval, longest }: Pace, now: number): number {
  if (record === undefined) return 0;
  return Math.min(longest, Math.max(0, record.paidAt - (burst - 1) * interval - now));
}

/** With one attempt more to make up for; debts do not grow beyond what the longest wait pays. */
function later(record: Record, { burst, interval, longest }: Pace, now: number): Record {
  const most = now + (burst - 1) * interval + longest;
  return { ...record, paidAt: Math.min(most, Math.max(record.paidAt, now) + interval) };
}

/** A name as long as a body would otherwise be remembered. */
const keyOf = (network: string, user: string): string => `${network} ${user.slice(0, 255)}`;

/** An IPv6 client has a whole network of addresses to itself. @returns what addresses of one client have in common */
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
