import type { Clock } from '../../broker/index.js';
import { after } from '../../host/index.js';
import { isLoopback, LoginThrottle } from '../../logins/index.js';
import { clientGone, notAuthorised } from '../http/reply.js';
import { isForwarded, loginFailed, passwordIn, tooManyLogins } from '../http/login.js';
import { type Caller, keyOf } from './caller.js';
import { ask, refusal } from './get-json.js';
import type { RemoteServer } from './remote-server.js';
import { foreignServer } from './unreachable.js';

/** How long the server is not asked again about a password that it accepted, in milliseconds. */
const trusted = 10_000;

/** The most users whose passwords are remembered. */
const remembered = 256;

interface Known {
  readonly until: number;
  readonly caller: Promise<Caller>;
  /** Of the request that asks the server. */
  readonly signal: AbortSignal;
}

/**
 * The users of the console. The server checks each login: a request with the password of the user goes to it. Failed logins of an
 * address are slowed down, because the server sees all of them come from this machine.
 */
export class Callers {
  readonly #throttle = new LoginThrottle(() => performance.now());
  /** The oldest first. All count for the same time. */
  readonly #known = new Map<string, Known>();
  #sweep: (() => void) | undefined;

  constructor(
    readonly server: RemoteServer,
    readonly clock: Clock,
  ) {}

  /**
   * The user of a request.
   * @param peer the address of the client
   * @throws Problem 401, 429 when too many failed logins wait, 502 when the server does not answer
   */
  async of(headers: Headers, peer: string, signal: AbortSignal): Promise<Caller> {
    const { user, password } = passwordIn(headers);
    const isLocal = isLoopback(peer) && !isForwarded(headers);
    const key = keyOf(user, password, isLocal, isLocal ? '' : peer);
    const now = this.clock.now();
    const known = this.#known.get(key);
    if (known !== undefined && known.until > now) return this.#shared(known, headers, peer, signal);
    const caller = this.#checked({ user, password, peer, isLocal, key }, headers, signal);
    this.#remember(key, { until: now + trusted, caller, signal });
    return caller;
  }

  /**
   * Waits for the answer to another request with the same password. If the client of that request has gone, this request asks the
   * server.
   */
  async #shared(known: Known, headers: Headers, peer: string, signal: AbortSignal): Promise<Caller> {
    try {
      return await known.caller;
    } catch (error) {
      if (!known.signal.aborted || signal.aborted) throw error;
      return this.of(headers, peer, signal);
    }
  }

  #remember(key: string, known: Known): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    this.#sweep ??= after(this.clock, trusted, () => this.#forget());
    // A refused password is not remembered, because the server may accept it later.
    known.caller.catch(() => {
      if (this.#known.get(key) === known) this.#known.delete(key);
    });
    if (this.#known.size > remembered) this.#known.delete(this.#known.keys().next().value as string);
  }

  /** Forgets the passwords that count no more, also when no request comes. */
  #forget(): void {
    this.#sweep = undefined;
    const now = this.clock.now();
    for (const [key, { until }] of this.#known) {
      if (until > now) {
        this.#sweep = after(this.clock, until - now, () => this.#forget());
        return;
      }
      this.#known.delete(key);
    }
  }

  /** Forgets all passwords. */
  close(): void {
    this.#sweep?.();
    this.#sweep = undefined;
    this.#known.clear();
  }

  /** The number of passwords that are remembered. */
  get count(): number {
    return this.#known.size;
  }

  async #checked(login: UncheckedLogin, headers: Headers, signal: AbortSignal): Promise<Caller> {
    const { user, password, peer, isLocal, key } = login;
    // The server sees a connection from this machine, and would let the client in.
    if (!isLocal && user === 'guest' && this.#isServerHere()) throw notAuthorised('User can only log in via localhost');
    const guess = { address: peer, user, kept: undefined };
    const { wait } = this.#throttle.turn(guess);
    if (wait === undefined) throw tooManyLogins();
    if (wait > 0) await this.#waited(wait, peer, signal);
    // Guesses at the same time must not all be checked before the first of them counts as failed.
    this.#throttle.failed(guess, wait > 0);
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const { status, body } = await ask(this.server, { authorization, isLocal, peer }, ['whoami']);
    const { reason } = (body ?? {}) as { readonly reason?: unknown };
    if (status === 401 && !isAboutTags(reason)) throw loginFailed(headers);
    this.#throttle.succeeded(guess);
    if (status === 404) throw foreignServer(this.server.base, 'GET /api/whoami');
    if (status !== 200) throw refusal(['whoami'], status, body);
    return {
      user: { ...whoIn(body, this.server), passwordHash: undefined },
      password,
      authorization,
      key,
      peer,
      isLocal,
    };
  }

  async #waited(wait: number, peer: string, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = after(this.clock, wait, resolve);
      const gone = (): void => {
        cancel();
        resolve();
      };
      signal.addEventListener('abort', gone, { once: true });
      if (signal.aborted) gone();
    });
    this.#throttle.leave(peer);
    if (signal.aborted) throw clientGone();
  }

  #isServerHere(): boolean {
    const host = new URL(this.server.base).hostname.replace(/^\[|\]$/g, '');
    return host === 'localhost' || isLoopback(host);
  }
}

interface UncheckedLogin {
  readonly user: string;
  readonly password: string;
  readonly peer: string;
  readonly isLocal: boolean;
  readonly key: string;
}

/** RabbitMQ answers 401 to users without a tag for management, too. Their password was right. */
const isAboutTags = (reason: unknown): boolean => typeof reason === 'string' && /^(Not |User )/.test(reason);

/** Tags are a list, or in older releases a string with commas. */
function whoIn(body: unknown, server: RemoteServer): { readonly name: string; readonly tags: readonly string[] } {
  const { name, tags } = (body ?? {}) as { readonly name?: unknown; readonly tags?: unknown };
  const list = typeof tags === 'string' ? tags.split(',') : tags;
  if (typeof name !== 'string' || !Array.isArray(list)) throw foreignServer(server.base, 'GET /api/whoami');
  return { name, tags: list.filter((tag) => typeof tag === 'string' && tag !== '') as readonly string[] };
}
