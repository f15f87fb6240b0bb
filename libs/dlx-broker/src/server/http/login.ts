import type { Clock, User } from '../../engine/broker/index.js';
import { isLoopback, type LoginAttempt, type Logins, loginsOf, usersOf } from '../../platform/logins/index.js';
import type { ManagementHost } from '../host.js';
import { readBody } from './body.js';
import { clientGone, notAuthorised, Problem } from './reply.js';

const challenge = { 'www-authenticate': 'Basic realm="RabbitMQ Management"' };

/**
 * The headers of a refused login. A browser that gets a challenge opens a dialog of its own; the console has a form for
 * that, and sends a header by which its requests are known.
 */
const challengeFor = (headers: Headers): Readonly<Record<string, string>> =>
  headers.get('x-requested-with') === 'dlx-console' ? {} : challenge;

/** The refusal of a request without credentials. */
const unknownUser = (headers: Headers): Problem => new Problem(401, 'not_authorized', undefined, challengeFor(headers));
const loginFailed = (headers: Headers): Problem =>
  new Problem(401, 'not_authorized', 'Login failed', challengeFor(headers));
const malformed = (): Problem => new Problem(400, 'bad_request', undefined);
const tooManyLogins = (): Problem =>
  new Problem(429, 'too_many_requests', 'Too many failed logins of this address wait', { 'retry-after': '1' });

/** Authenticates requests by HTTP Basic. Only failures are remembered. */
export class Login {
  readonly #host: ManagementHost;
  readonly #isUser: NonNullable<ManagementHost['authenticate']>;
  readonly #logins: Logins;

  constructor(host: ManagementHost) {
    const { access } = host.broker;
    this.#host = host;
    this.#isUser = host.authenticate ?? usersOf(access);
    this.#logins = loginsOf(access, { ...host, authenticate: this.#isUser });
  }

  /**
   * @param peer the address of the client
   * @param signal aborted when the client has gone; then the password is not checked
   * @throws Problem 401, 429 when too many failed logins of the address wait already, 400 for another scheme than Basic
   */
  async user(headers: Headers, peer: string, signal: AbortSignal): Promise<User> {
    const { user, password } = passwordIn(headers);
    const isLocal = isLoopback(peer) && !isForwarded(headers);
    const attempt = this.#logins.attempt({ user, password, mechanism: 'HTTP', address: peer, isLocal });
    if (attempt.wait > 0) await waited(attempt, this.#host.broker.clock, signal);
    const isUser = attempt.check();
    if (attempt.isCrowded) throw tooManyLogins();
    const found = isUser ? this.#host.broker.access.user(user) : undefined;
    if (found !== undefined) return found;
    if (!isLocal && this.#isUser({ user, password, isLocal: true })) {
      throw notAuthorised('User can only log in via localhost');
    }
    throw loginFailed(headers);
  }
}

/**
 * Waits for the turn of an attempt.
 * @throws Problem if the client has gone meanwhile
 */
async function waited(attempt: LoginAttempt, clock: Clock, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clock.wakeAt(undefined, end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', end);
    clock.wakeAt(clock.now() + attempt.wait, end);
  });
  if (!signal.aborted) return;
  attempt.drop();
  throw clientGone();
}

/** The most bytes of a login form. */
const longestForm = 4_096;

/**
 * The headers of a request with the user and the password of its form instead of its own.
 * @throws Problem 401 without them, 400 for a form that is too long
 */
export async function withLoginForm(request: Request): Promise<Headers> {
  const bytes = await readBody(request, longestForm, () => undefined);
  const form = new URLSearchParams(Buffer.from(bytes).toString());
  const [user, password] = [form.get('username'), form.get('password')];
  if (user === null || password === null) throw loginFailed(request.headers);
  const headers = new Headers(request.headers);
  headers.set('authorization', `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`);
  return headers;
}

/** True if a proxy forwarded the request: the client may then be on another machine. */
const isForwarded = (headers: Headers): boolean => headers.has('x-forwarded-for') || headers.has('forwarded');

/**
 * The user and the password of a request.
 * @throws Problem 401 without them, 400 for another scheme than Basic
 */
function passwordIn(headers: Headers): { readonly user: string; readonly password: string } {
  const authorization = headers.get('authorization');
  if (authorization === null) throw unknownUser(headers);
  return credentialsIn(authorization, headers);
}

/** @throws Problem */
function credentialsIn(header: string, headers: Headers): { readonly user: string; readonly password: string } {
  if (!/^basic /i.test(header)) throw loginFailed(headers);
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(header)?.[1];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 0) throw malformed();
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
