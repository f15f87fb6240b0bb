import {
  callHttp,
  decodedReason,
  type HttpAnswer,
  type HttpApi,
  type HttpCall,
  LateAnswer,
  notHttp,
} from '../../platform/index.js';
import { CtlFailure, exit } from './exit.js';

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

  /** @returns the answer if it is one of these statuses @throws CtlFailure */
  async call(method: Method, path: readonly string[], accepted: readonly number[], sent: Sent = {}): Promise<Reply> {
    const reply = await this.send(method, path, sent);
    if (accepted.includes(reply.status)) return reply;
    throw this.#refusal(reply);
  }

  /** Sends a request, and returns the answer whatever its status. @throws CtlFailure when there is no answer */
  async send(method: Method, path: readonly string[], sent: Sent = {}): Promise<Reply> {
    const { timeout } = this;
    const { body, headers, query, receive } = sent;
    const call = { method, path: ['api', ...path], body, headers, query: query && parameters(query), timeout, receive };
    let answer: HttpAnswer;
    try {
      answer = await callHttp(this.address, call);
    } catch (error) {
      if (error instanceof CtlFailure) throw error; // of `receive`
      throw error instanceof LateAnswer ? this.#late() : this.#unavailable(reasonFor(error as Error));
    }
    return { ...answer, body: parsed(answer.text) };
  }

  #refusal({ status, body, text }: Reply): CtlFailure {
    const reason = reasonOf(body);
    const { user } = this.address;
    if (status === 401) return this.#unavailable(`${reason} (user '${user}'); --user and --password name another one`);
    if (status === 429) return this.#unavailable(reason ?? 'too many attempts to log in');
    if (reason === undefined)
      return this.#unavailable(`it answers ${status} ${text.slice(0, 200).split('\n')[0]}`.trimEnd());
    return new CtlFailure(exit.unavailable, `Error: ${reason}`);
  }

  /** Another HTTP server answers at the address. */
  foreign(): CtlFailure {
    return this.#unavailable('its answer is not that of a management API');
  }

  #unavailable(why: string): CtlFailure {
    return new CtlFailure(exit.unavailable, `Error: unable to perform an operation on '${this.address.base}': ${why}`);
  }

  #late(): CtlFailure {
    const text = `Error: no answer to ${this.command} from '${this.address.base}' within ${Number(this.timeout) / 1000} s; --timeout SECONDS waits longer`;
    return new CtlFailure(exit.temporary, text);
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
