import {
  callHttp,
  decodedReason,
  type HttpAnswer,
  type HttpApi,
  type HttpCall,
  LateAnswer,
  notHttp,
} from '../platform/index.js';
import { CommandError, exit } from './command-error.js';

/** The options that name a server and the user who logs in. */
export interface LoginFlags {
  readonly url?: string;
  readonly user?: string;
  readonly password?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const usage = (text: string): CommandError => new CommandError(`${text}`, exit.usage);

/** Reads the options, or else the environment. Default: the address and login of a new broker on this machine. @throws CommandError */
export function addressOf(flags: LoginFlags, env: Environment): HttpApi {
  const option = (name: keyof LoginFlags): string | undefined =>
    flags[name] || env[`DLX_BROKER_${name.toUpperCase()}`] || undefined;
  const url = urlOf(option('url') ?? 'http://127.0.0.1:15672');
  const user = option('user') ?? decoded(url.username);
  const password = option('password') ?? decoded(url.password);
  url.username = '';
  url.password = '';
  const base = url.href.replace(/\/$/, '');
  if (user === undefined && !isLoopback(url.hostname))
    throw usage(`who asks ${base}? Name a --user and its --password, or set DLX_BROKER_USER and DLX_BROKER_PASSWORD`);
  if (user !== undefined && password === undefined)
    throw usage(`user '${user}' needs a password: --password or DLX_BROKER_PASSWORD`);
  return { base, user: user ?? 'guest', password: password ?? 'guest' };
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  // The URL may hold a password, so the error does not show it.
  throw usage('--url (or DLX_BROKER_URL) is not the address of a management API, such as http://127.0.0.1:15672');
}

function decoded(text: string): string | undefined {
  if (text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.[0-9]+){3}|\[::1\])$/.test(host);

export interface Reply {
  readonly status: number;
  /** Undefined if the body is empty or no JSON. */
  readonly body: unknown;
  readonly text: string;
}

export interface Sent {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** A name may come several times. */
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Gets the body of a good answer part by part, see `HttpCall`. */
  readonly receive?: (part: Buffer) => Promise<void>;
}

type Method = HttpCall['method'];

/** A management API, ours or RabbitMQ's. */
export class Api {
  /** @param timeout milliseconds for each answer */
  constructor(
    readonly address: HttpApi,
    private readonly timeout: number | undefined,
    private readonly command: string,
  ) {}

  /** @returns the answer if it is one of these statuses @throws CommandError */
  async call(method: Method, path: readonly string[], accepted: readonly number[], sent: Sent = {}): Promise<Reply> {
    const reply = await this.send(method, path, sent);
    if (accepted.includes(reply.status)) return reply;
    throw this.#refusal(reply);
  }

  /** Sends a request, and returns the answer whatever its status. @throws CommandError when there is no answer */
  async send(method: Method, path: readonly string[], sent: Sent = {}): Promise<Reply> {
    const { timeout } = this;
    const { body, headers, query, receive } = sent;
    const call = { method, path: ['api', ...path], body, headers, query: query && parameters(query), timeout, receive };
    let answer: HttpAnswer;
    try {
      answer = await callHttp(this.address, call);
    } catch (error) {
      if (error instanceof CommandError) throw error; // of `receive`
      throw error instanceof LateAnswer ? this.#late() : this.#unavailable(reasonFor(error as Error));
    }
    return { ...answer, body: parsed(answer.text) };
  }

  #refusal({ status, body, text }: Reply): CommandError {
    const reason = reasonOf(body);
    const { user } = this.address;
    if (status === 401) return this.#unavailable(`${reason} (user '${user}'); --user and --password name another one`);
    if (status === 429) return this.#unavailable(reason ?? 'too many attempts to log in');
    if (reason === undefined)
      return this.#unavailable(`it answers ${status} ${text.slice(0, 200).split('\n')[0]}`.trimEnd());
    return new CommandError(`${reason}`, exit.unavailable);
  }

  /** Another HTTP server answers at the address. */
  foreign(): CommandError {
    return this.#unavailable('its answer is not that of a management API');
  }

  #unavailable(why: string): CommandError {
    return new CommandError(`unable to perform an operation on '${this.address.base}': ${why}`, exit.unavailable);
  }

  #late(): CommandError {
    const text = `no answer to ${this.command} from '${this.address.base}' within ${Number(this.timeout) / 1000} s; --timeout SECONDS waits longer`;
    return new CommandError(text, exit.temporary);
  }
}

const parameters = (query: NonNullable<Sent['query']>): URLSearchParams =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one])),
  );

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The reason in the body of a refusal, in one line. RabbitMQ escapes angle brackets in some of its texts. */
export function reasonOf(body: unknown): string | undefined {
  const { reason } = (typeof body === 'object' && body !== null ? body : {}) as { reason?: unknown };
  if (reason === undefined) return undefined;
  return decodedReason(textOf(reason)).trim().replaceAll(/\n+/g, ': ');
}

/** RabbitMQ sends some reasons as a list of words, and some of the words as lists of the codes of their letters. */
function textOf(reason: unknown): string {
  if (!Array.isArray(reason)) return typeof reason === 'string' ? reason : JSON.stringify(reason);
  const isText = reason.length > 0 && reason.every((code) => Number.isInteger(code) && code < 0x110000);
  return isText ? String.fromCodePoint(...(reason as number[])) : reason.map(textOf).join(' ');
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused; --url or DLX_BROKER_URL names the management API of a running broker',
  ENOTFOUND: 'no such host',
  ECONNRESET: 'it ended the connection',
};

const reasonFor = (error: NodeJS.ErrnoException): string =>
  reasons[error.code ?? ''] ?? notHttp(error) ?? error.message;
