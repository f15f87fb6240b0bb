import type { User } from '../broker/index.js';
import { type Authenticate, isLoopback, LoginThrottle, usersOf } from '../users/index.js';
import type { ManagementHost } from './host.js';
import { notAuthorised, Problem } from './reply.js';

const challenge = { 'www-authenticate': 'Basic realm="RabbitMQ Management"' };

/** Nobody said who they are. */
const unknownUser = (): Problem => new Problem(401, 'not_authorized', undefined, challenge);
const loginFailed = (): Problem => new Problem(401, 'not_authorized', 'Login failed', challenge);
const malformed = (): Problem => new Problem(400, 'bad_request', undefined);
const tooMany = (wait: number): Problem =>
  new Problem(429, 'too_many_requests', 'Too many failed logins', { 'retry-after': String(Math.ceil(wait / 1000)) });

/** Who asks, by the words of HTTP's Basic scheme. Nothing is remembered but failures. */
export class Login {
  readonly #host: ManagementHost;
  readonly #authenticate: Authenticate;
  readonly #throttle: LoginThrottle;

  constructor(host: ManagementHost) {
    this.#host = host;
    this.#authenticate = host.authenticate ?? usersOf(host.broker.access);
    this.#throttle = host.throttle ?? new LoginThrottle(host.now);
  }

  /** @param peer the client's address @throws Problem 401, 429 for who failed too often, 400 for what is not Basic */
  user(headers: Headers, peer: string): User {
    const authorization = headers.get('authorization');
    if (authorization === null) throw unknownUser();
    const { user, password } = credentialsIn(authorization);
    const wait = this.#throttle.refusedFor(peer, user);
    if (wait > 0) throw tooMany(wait);
    const isLocal = isLoopback(peer) && !isForwarded(headers);
    const isUser = this.#authenticate({ user, password, isLocal });
    this.#throttle.tried(peer, user, isUser);
    const found = isUser ? this.#host.broker.access.user(user) : undefined;
    if (found !== undefined) return found;
    if (!isLocal && this.#authenticate({ user, password, isLocal: true })) {
      throw notAuthorised('User can only log in via localhost');
    }
    throw loginFailed();
  }
}

/** A proxy on this machine speaks for somebody who may be anywhere. */
const isForwarded = (headers: Headers): boolean => headers.has('x-forwarded-for') || headers.has('forwarded');

/** @throws Problem */
function credentialsIn(header: string): { readonly user: string; readonly password: string } {
  if (!/^basic /i.test(header)) throw loginFailed();
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(header)?.[1];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 0) throw malformed();
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
