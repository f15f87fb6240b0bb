import { isIPv6 } from 'node:net';

/** Failures that are forgiven before the first wait: of one user at one address, and of all users at one address. */
const forgiven = { user: 5, address: 50 };
/** Milliseconds of the first wait; each further failure doubles it. */
const firstWait = 1_000;
const longestWait = 60_000;
/** Milliseconds after which failures are forgotten. */
const memory = 15 * 60_000;
/** How many addresses and users at addresses are remembered; those that were quiet longest go first. */
const remembered = 10_000;

interface Record {
  readonly failures: number;
  /** When it is listened to again. */
  readonly until: number;
  readonly last: number;
}

/**
 * Makes guessing slow: after a handful of failures a user at an address has to wait, each time longer, before a password
 * is looked at again. Others at the same address go on, until it has failed so often that it must be guessing names; a
 * user who is attacked from elsewhere can log in as ever.
 */
export class LoginThrottle {
  readonly #now: () => number;
  /** In the order of the last failure. */
  readonly #records = new Map<string, Record>();

  /** @param now milliseconds; the time is lent */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Milliseconds that this user has still to wait at this address; 0 when to be listened to. */
  refusedFor(address: string, user: string): number {
    const now = this.#now();
    const network = networkOf(address);
    const until = Math.max(
      this.#records.get(keyOf(network, user))?.until ?? 0,
      this.#records.get(keyOf(network))?.until ?? 0,
    );
    return Math.max(0, until - now);
  }

  /** A password was looked at. Who succeeds starts anew; what else failed at the address stays failed. */
  tried(address: string, user: string, succeeded: boolean): void {
    const network = networkOf(address);
    if (succeeded) return void this.#records.delete(keyOf(network, user));
    const failures = this.#failed(keyOf(network, user), forgiven.user);
    // One who never gives up, a program with an old password, is not to shut out its neighbours.
    if (failures <= forgiven.user) this.#failed(keyOf(network), forgiven.address);
  }

  /** @returns how often by now */
  #failed(key: string, free: number): number {
    const now = this.#now();
    const known = this.#records.get(key);
    const failures = known === undefined || now - known.last > memory ? 1 : known.failures + 1;
    const wait = failures < free ? 0 : Math.min(longestWait, firstWait * 2 ** (failures - free));
    this.#records.delete(key); // to the end of the order
    this.#records.set(key, { failures, until: now + wait, last: now });
    if (this.#records.size > remembered) this.#records.delete(this.#records.keys().next().value as string);
    return failures;
  }
}

/** A name as long as a body would otherwise be remembered. */
const keyOf = (network: string, user?: string): string =>
  user === undefined ? network : `${network} ${user.slice(0, 255)}`;

/** An IPv6 client has a whole network of addresses to itself. */
function networkOf(address: string): string {
  if (address.startsWith('::ffff:') || !isIPv6(address)) return address.replace('::ffff:', '');
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':');
    while (groups.length + after.length < 8) groups.push('0');
  }
  return groups.slice(0, 4).join(':');
}
