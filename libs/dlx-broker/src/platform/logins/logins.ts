import type { Access } from '../../engine/broker/index.js';
import { type Authenticate, usersOf } from './authenticate.js';
import { LoginLog } from './login-log.js';
import { type Guess, LoginThrottle } from './login-throttle.js';

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
export interface LoginParts {
  readonly authenticate: Authenticate;
  readonly throttle: LoginThrottle;
  readonly log: LoginLog;
  /** The stored password of a user; undefined when there is no such user. */
  readonly keptFor: (user: string) => string | undefined;
}

/** What a port gives to its logins. */
export interface LoginOptions {
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
    if (this.isCrowded) return this.#refuse('too many failed logins of this address wait');
    const waited = this.wait > 0;
    this.drop();
    const guess = this.#guess();
    if (!authenticate(this.#credentials)) {
      throttle.failed(guess, waited);
      return this.#refuse('invalid credentials');
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

  #refuse(why: string): false {
    const { mechanism, user, address } = this.#credentials;
    this.#parts.log.refused({ mechanism, user, address, why });
    return false;
  }
}
