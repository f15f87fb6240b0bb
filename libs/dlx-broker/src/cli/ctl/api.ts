import { request as plainRequest } from 'node:http';
import type { Address } from './address.js';
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
}

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

/** A management API, ours or RabbitMQ's. */
export class Api {
  /** @param timeout milliseconds for each answer */
  constructor(
    readonly address: Address,
    private readonly timeout: number | undefined,
    private readonly command: string,
  ) {}

  /** @returns the answer if it is one of these statuses @throws CtlFailure */
  async call(method: Method, path: readonly string[], accepted: readonly number[], sent: Sent = {}): Promise<Reply> {
    const reply = await this.send(method, path, sent);
    if (accepted.includes(reply.status)) return reply;
    throw this.#refusal(reply);
  }

  /** Gets a list; undefined if it does not exist. */
  async list(...path: string[]): Promise<readonly Readonly<Record<string, unknown>>[] | undefined> {
    const { status, body } = await this.call('GET', path, [200, 404]);
    if (status === 404) return undefined;
    if (Array.isArray(body)) return body as Readonly<Record<string, unknown>>[];
    throw this.#unavailable('its answer is not that of a management API');
  }

  async find(...path: string[]): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { status, body } = await this.call('GET', path, [200, 404]);
    return status === 404 ? undefined : (body as Readonly<Record<string, unknown>>);
  }

  /**
   * Sends a request, and returns the answer whatever its status. The path is sent unchanged, because a queue may be called `..`.
   * @throws CtlFailure when there is no answer
   */
  async send(method: Method, path: readonly string[], sent: Sent = {}, as: Partial<Address> = {}): Promise<Reply> {
    if (this.timeout === 0) throw this.#late();
    const { url, user, password } = { ...this.address, ...as };
    const request = url.protocol === 'https:' ? (await import('node:https')).request : plainRequest;
    const body = sent.body === undefined ? undefined : JSON.stringify(sent.body);
    const query = queryOf(sent.query ?? {});
    const options = {
      method,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? undefined : Number(url.port),
      path: `${url.pathname.replace(/\/$/, '')}/api/${path.map(encodeURIComponent).join('/')}${query}`,
      headers: {
        authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...sent.headers,
      },
      agent: false as const,
    };
    return new Promise((resolve, reject) => {
      const asked = request(options, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', (error) => reject(this.#unavailable(error.message)));
        response.on('end', () => {
          const text = Buffer.concat(parts).toString();
          resolve({ status: response.statusCode ?? 0, text, body: parsed(text) });
        });
      });
      if (this.timeout !== undefined) asked.setTimeout(this.timeout, () => asked.destroy(this.#late()));
      asked.on('error', (error) => reject(error instanceof CtlFailure ? error : this.#unavailable(whyNot(error))));
      asked.end(body);
    });
  }

  #refusal({ status, body, text }: Reply): CtlFailure {
    const reason = reasonOf(body);
    if (status === 401) return this.#unavailable(`${reason ?? 'not authorised'} (user '${this.address.user}')`);
    if (status === 429) return this.#unavailable(reason ?? 'too many attempts to log in');
    if (reason === undefined)
      return this.#unavailable(`it answers ${status} ${text.slice(0, 200).split('\n')[0]}`.trimEnd());
    return new CtlFailure(exit.unavailable, `Error:\n${reason}`);
  }

  #unavailable(why: string): CtlFailure {
    return new CtlFailure(exit.unavailable, `Error: unable to perform an operation on '${this.address.shown}': ${why}`);
  }

  #late(): CtlFailure {
    const text = `Error: operation ${this.command} on '${this.address.shown}' timed out. Timeout value used: ${this.timeout}`;
    return new CtlFailure(exit.temporary, text);
  }
}

function queryOf(query: NonNullable<Sent['query']>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

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
  return (typeof reason === 'string' ? reason : JSON.stringify(reason))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  ECONNRESET: 'it ended the connection',
};

function whyNot(error: NodeJS.ErrnoException & { errors?: readonly NodeJS.ErrnoException[] }): string {
  const { code, message } = error.errors?.[0] ?? error;
  return reasons[code ?? ''] ?? message;
}
