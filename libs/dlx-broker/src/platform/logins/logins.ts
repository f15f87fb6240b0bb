import type { Access } from '../../engine/broker/index.js';
import { cutText, shownText } from '../index.js';
import { type Guess, LoginThrottle, networkOf } from './login-throttle.js';
import { hashPassword, verifyPassword } from './password.js';

/** The largest number of lines in a span of time, and the span in milliseconds. */
const most = { lines: 60, ofNetwork: 10, span: 60_000 };
/** Characters of a user's name that a line shows. */
const longestName = 64;

/** A login that was refused. */
interface RefusedLogin {
  /** `PLAIN`, `AMQPLAIN`; `HTTP` for the management API. */
  readonly mechanism: string;
  readonly user: string;
  readonly address: string;
  readonly why: string;
}

/**
 * Writes a line for each refused login. The number of lines is limited, so an attacker cannot fill the log. The name is cut and
 * escaped. A line never has a password.
 */
export class LoginLog {
  readonly #now: () => number;
  readonly #notice: (text: string) => void;
  #since = -Infinity;
  #lines = 0;
  #left = 0;
  /** Lines of this span, by network. */
  readonly #by = new Map<string, number>();

  /** @param now the time in milliseconds @param notice gets the lines */
  constructor(now: () => number, notice: (text: string) => void) {
    this.#now = now;
    this.#notice = notice;
  }

  refused({ mechanism, user, address, why }: RefusedLogin): void {
    this.#beginSpan();
    const network = networkOf(address);
    const lines = (this.#by.get(network) ?? 0) + 1;
    if (this.#lines >= most.lines || lines > most.ofNetwork) return void this.#left++;
    this.#lines++;
    this.#by.set(network, lines);
    // In quotes, cut and escaped: the client chose the name.
    const name = shownText(JSON.stringify(cutText(user, longestName)));
    this.#notice(`${shownText(mechanism, longestName)} login refused: user ${name} at ${address} - ${why}`);
  }

  /** Begins a new span with a line about the lines that the last span left out. */
  #beginSpan(): void {
    const now = this.#now();
    if (now - this.#since < most.span) return;
    if (this.#left > 0) this.#notice(`${this.#left} more refused logins in the minute before have no line`);
    this.#since = now;
    this.#lines = this.#left = 0;
    this.#by.clear();
  }
}

/** The user and the password that a client sends, and where it comes from. */
export interface Credentials {
  readonly user: string;
  readonly password: string;
  /** `PLAIN`, `AMQPLAIN`, `HTTP`. */
  readonly mechanism: string;
  /** The address of the client. */
  readonly address: string;
  readonly isLocal: boolean;
}

/** The parts that check a login. */
interface LoginParts {
  readonly authenticate: Authenticate;
  readonly throttle: LoginThrottle;
  readonly log: LoginLog;
  /** The stored password of a user; undefined when there is no such user. */
  readonly keptFor: (user: string) => string | undefined;
}

/** What a port gives to its logins. */
interface LoginOptions {
  /** Milliseconds of a clock. */
  readonly now: () => number;
  /** Decides about a password. Default: the users of the broker. */
  readonly authenticate?: Authenticate;
  /** Shared with other ports, so that guessing at one of them counts at all. */
  readonly throttle?: LoginThrottle;
  /** Gets a line for each refused login. */
  readonly notice?: (text: string) => void;
}

/** The logins of one port. */
export const loginsOf = (access: Access, { now, authenticate, throttle, notice }: LoginOptions): Logins =>
  new Logins({
    authenticate: authenticate ?? usersOf(access),
    throttle: throttle ?? new LoginThrottle(now),
    log: new LoginLog(now, (text) => notice?.(text)),
    keptFor: (user) => access.user(user)?.passwordHash,
  });

/** Checks the logins of a listener, each in its turn, and logs those that are refused. */
export class Logins {
  readonly #parts: LoginParts;

  constructor(parts: LoginParts) {
    this.#parts = parts;
  }

  attempt(credentials: Credentials): LoginAttempt {
    return new LoginAttempt(this.#parts, credentials);
  }
}

/** One login. It is checked once, after its wait. */
export class LoginAttempt {
  /** Milliseconds to wait before {@link check}. */
  readonly wait: number;
  /** Too many attempts wait: this one is refused unchecked. */
  readonly isCrowded: boolean;
  readonly #parts: LoginParts;
  readonly #credentials: Credentials;
  #isWaiting: boolean;

  constructor(parts: LoginParts, credentials: Credentials) {
    this.#parts = parts;
    this.#credentials = credentials;
    const { wait } = parts.throttle.turn(this.#guess());
    this.isCrowded = wait === undefined;
    this.wait = wait ?? 0;
    this.#isWaiting = this.wait > 0;
  }

  /** Checks the password. @returns true when it is right */
  check(): boolean {
    const { authenticate, throttle } = this.#parts;
    if (this.isCrowded) return this.refuse('too many failed logins of this address wait');
    const waited = this.wait > 0;
    this.drop();
    const guess = this.#guess();
    if (!authenticate(this.#credentials)) {
      throttle.failed(guess, waited);
      return this.refuse('invalid credentials');
    }
    throttle.succeeded(guess);
    return true;
  }

  /** The client has gone: another attempt may wait in its place. */
  drop(): void {
    if (this.#isWaiting) this.#parts.throttle.leave(this.#credentials.address);
    this.#isWaiting = false;
  }

  #guess(): Guess {
    const { address, user } = this.#credentials;
    return { address, user, kept: this.#parts.keptFor(user) };
  }

  /** Logs why the client is refused, be it after its password was found right. */
  refuse(why: string): false {
    const { mechanism, user, address } = this.#credentials;
    this.#parts.log.refused({ mechanism, user, address, why });
    return false;
  }
}

/** A login that a client tries. */
export interface Login {
  readonly user: string;
  readonly password: string;
  /** Whether the client is on this machine. */
  readonly isLocal: boolean;
}

/** Decides about a login. @returns true when name and password are right */
export type Authenticate = (login: Login) => boolean;

/** Compares with the users of a broker. The well-known user `guest` may log in from this machine only. */
export function usersOf(access: Access): Authenticate {
  /** The password of a user who does not exist, so that an unknown name takes as long to refuse as a wrong password. */
  let noUser: string | undefined;
  return ({ user, password, isLocal }) => {
    noUser ??= hashPassword(''); // not at the import: the first hash of a process takes a millisecond
    const hash = access.user(user)?.passwordHash;
    const matches = verifyPassword(password, hash ?? noUser);
    return matches && hash !== undefined && (isLocal || user !== 'guest');
  };
}

/** True for an address of this machine. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return plain === '::1' || plain.startsWith('127.');
}
