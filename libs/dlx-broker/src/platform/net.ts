import type { ListenOptions, Server } from 'node:net';
import { maxTimerDelay } from './clock.js';

/** A host as URLs and errors name it: an IPv6 address is in brackets. */
export const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/**
 * Binds a server to its address.
 * @param fault gets the later errors of the server
 * @returns a promise that resolves when clients can connect
 * @throws the error of the system, such as EADDRINUSE
 */
export function bind(server: Server, address: ListenOptions, fault: (error: Error) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => {
      server.off('error', reject);
      server.on('error', fault);
      resolve();
    });
  });
}

/** A port that holds timers or files before it is open. */
interface Port {
  open(host: string, port: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens a port, or closes it if it cannot be opened. @returns the port @throws the error of `open` */
export async function opened<P extends Port>(port: P, host: string, number: number): Promise<P> {
  try {
    await port.open(host, number);
    return port;
  } catch (error) {
    await port.close();
    throw error;
  }
}

/** An HTTP API, and a login. */
export interface HttpApi {
  /** `http://host:15672`, without a user. */
  readonly base: string;
  readonly user: string;
  readonly password: string;
  /** Ends all calls when it is aborted. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

export interface HttpCall {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** The segments of the path behind `base`, not encoded. */
  readonly path: readonly string[];
  readonly query?: URLSearchParams | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds within which the whole answer has to arrive. Default: no limit. */
  readonly timeout?: number | undefined;
  /** The most bytes of the answer. Default 256 MiB, which is more than the largest message in base64. */
  readonly maxBytes?: number;
  /**
   * Gets the body of a successful answer part by part; `text` is empty then. The next part is read when the
   * promise resolves. If the promise rejects, or the answer is not complete, the call rejects.
   */
  readonly receive?: ((part: Buffer) => Promise<void>) | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** There was no answer within the time limit. */
export class LateAnswer extends Error {
  override readonly name = 'LateAnswer';
}

/** The caller ended the call. */
export class EndedCall extends Error {
  override readonly name = 'EndedCall';
}

/** The answer is longer than allowed. */
class LargeAnswer extends Error {
  override readonly name = 'LargeAnswer';
}

/** Why an error of a call means that no HTTP server answered, with the remedy; undefined for other errors. */
export const notHttp = ({ code = '' }: { readonly code?: string | undefined }): string | undefined =>
  code.startsWith('HPE_') ? 'its answer is not HTTP; name the port of the management API, not that of AMQP' : undefined;

/** A reason in an answer of a management API: RabbitMQ escapes angle brackets and quotes in some of its texts. */
export const decodedReason = (reason: string): string =>
  reason
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

const defaultMaxBytes = 256 * 1024 * 1024;

/**
 * Sends one request. The path is sent unchanged, because a queue may be called `..`: `fetch` would take that as a step up.
 * @throws LateAnswer, LargeAnswer, EndedCall, or the error of the system
 */
export async function callHttp({ base, user, password, signal }: HttpApi, call: HttpCall): Promise<HttpAnswer> {
  const { protocol, hostname, port, pathname } = new URL(base);
  // Imported here, because an application with an embedded broker starts without these modules.
  const { request } = await (protocol === 'https:' ? import('node:https') : import('node:http'));
  const { method, path, query, headers, timeout, maxBytes = defaultMaxBytes } = call;
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const search = query === undefined || query.size === 0 ? '' : `?${query}`;
  const options = {
    method,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? undefined : Number(port),
    path: `${pathname.replace(/\/+$/, '')}/${path.map(encodeURIComponent).join('/')}${search}`,
    headers: {
      authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      ...headers,
    },
    agent: false as const,
    ...(timeout !== undefined && { signal: AbortSignal.timeout(Math.min(timeout, maxTimerDelay)) }),
  };
  return new Promise((resolve, reject) => {
    const failed = (error: Error & { readonly errors?: readonly Error[] }): void => {
      if (signal?.aborted === true) reject(new EndedCall('this application has ended the call'));
      else if (options.signal?.aborted === true) reject(new LateAnswer(`no answer within ${timeout} ms`));
      else reject(error.errors?.[0] ?? error); // if all addresses of the host failed, the outer error has no message
    };
    const asked = request(options, (response) => {
      const { statusCode: status = 0 } = response;
      if (call.receive !== undefined && status >= 200 && status < 300) {
        return void passOn(response, call.receive).then(() => resolve({ status, text: '' }), failed);
      }
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
        if (bytes <= maxBytes) parts.push(part);
        else response.destroy(new LargeAnswer(`its answer is longer than ${maxBytes} bytes`));
      });
      response.on('error', failed);
      response.on('end', () => resolve({ status, text: Buffer.concat(parts).toString() }));
    });
    asked.on('error', failed);
    const end = (): void => void asked.destroy(new EndedCall('ended'));
    asked.on('close', () => signal?.removeEventListener('abort', end));
    signal?.addEventListener('abort', end);
    if (signal?.aborted === true) end();
    else asked.end(body);
  });
}

async function passOn(parts: AsyncIterable<Buffer>, receive: (part: Buffer) => Promise<void>): Promise<void> {
  for await (const part of parts) await receive(part);
}
