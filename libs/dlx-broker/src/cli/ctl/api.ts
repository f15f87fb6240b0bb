import {
  callHttp,
  decodedReason,
  type HttpAnswer,
  type HttpApi,
  type HttpCall,
  LateAnswer,
  notHttp,
} from '../../host/index.js';
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

  /** Makes or replaces an object. @param missing thrown for 404 */
  async put(path: readonly string[], body: unknown, missing?: CtlFailure): Promise<undefined> {
    const { status } = await this.call('PUT', path, missing === undefined ? [201, 204] : [201, 204, 404], { body });
    if (status === 404) throw missing as CtlFailure;
  }

  /** Deletes an object. @param missing thrown for 404 */
  async remove(path: readonly string[], missing: CtlFailure): Promise<undefined> {
    const { status } = await this.call('DELETE', path, [200, 204, 404]);
    if (status === 404) throw missing;
  }

  /** Gets a list; undefined if it does not exist. */
  async list(...path: string[]): Promise<readonly Readonly<Record<string, unknown>>[] | undefined> {
    const { status, body } = await this.call('GET', path, [200, 404]);
    if (status === 404) return undefined;
    if (Array.isArray(body)) return body as Readonly<Record<string, unknown>>[];
    throw this.#foreign();
  }

  /** Gets an object; undefined if it does not exist. */
  async find(...path: string[]): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { status, body } = await this.call('GET', path, [200, 404]);
    if (status === 404) return undefined;
    if (typeof body === 'object' && body !== null) return body as Readonly<Record<string, unknown>>;
    throw this.#foreign();
  }

  /** Gets an object that every management API has. */
  async get(...path: string[]): Promise<Readonly<Record<string, unknown>>> {
    const found = await this.find(...path);
    if (found !== undefined) return found;
    throw this.#foreign();
  }

  /** Sends a request, and returns the answer whatever its status. @throws CtlFailure when there is no answer */
  async send(method: Method, path: readonly string[], sent: Sent = {}, as: Partial<HttpApi> = {}): Promise<Reply> {
    if (this.timeout === 0) throw this.#late();
    const api = { ...this.address, ...as };
    const { timeout } = this;
    const { body, headers, query, receive } = sent;
    const call = { method, path: ['api', ...path], body, headers, query: query && parameters(query), timeout, receive };
    let answer: HttpAnswer;
    try {
      answer = await callHttp(api, call);
    } catch (error) {
      if (error instanceof CtlFailure) throw error; // of `receive`
      throw error instanceof LateAnswer ? this.#late() : this.#unavailable(reasonFor(error as Error));
    }
    return { ...answer, body: parsed(answer.text) };
  }

  #refusal({ status, body, text }: Reply): CtlFailure {
    const reason = reasonOf(body);
    if (status === 401) return this.#unavailable(`${reason ?? 'not authorised'} (user '${this.address.user}')`);
    if (status === 429) return this.#unavailable(reason ?? 'too many attempts to log in');
    if (reason === undefined)
      return this.#unavailable(`it answers ${status} ${text.slice(0, 200).split('\n')[0]}`.trimEnd());
    return new CtlFailure(exit.unavailable, `Error:\n${reason}`);
  }

  /** Another HTTP server answers at the address. */
  #foreign(): CtlFailure {
    return this.#unavailable('its answer is not that of a management API');
  }

  #unavailable(why: string): CtlFailure {
    return new CtlFailure(exit.unavailable, `Error: unable to perform an operation on '${this.address.base}': ${why}`);
  }

  #late(): CtlFailure {
    const text = `Error: operation ${this.command} on '${this.address.base}' timed out. Timeout value used: ${this.timeout}`;
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

/** The reason in the body of a refusal. RabbitMQ escapes angle brackets in some of its texts. */
export function reasonOf(body: unknown): string | undefined {
  const { reason } = (typeof body === 'object' && body !== null ? body : {}) as { reason?: unknown };
  if (reason === undefined) return undefined;
  return decodedReason(typeof reason === 'string' ? reason : JSON.stringify(reason));
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  ECONNRESET: 'it ended the connection',
};

const reasonFor = (error: NodeJS.ErrnoException): string =>
  reasons[error.code ?? ''] ?? notHttp(error) ?? error.message;
