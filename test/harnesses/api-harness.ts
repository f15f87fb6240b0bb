import { policyPatterns } from '../../libs/dlx-broker/src/platform/index.js';
import { Broker, type Journal, type ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type Api, type ApiOptions, type ManagementHost } from '../../libs/dlx-broker/src/server/index.js';
import { createApi } from '../../libs/dlx-broker/src/server/http/app.js';
import { guestOf, addUsers } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';

/** An answer, read. */
export interface Read {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or undefined for an empty body. */
  readonly body: unknown;
}

export interface ApiCall {
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** `user:password`; default `guest:guest`, `''` for no credentials. */
  readonly as?: string;
  /** The address of the client. Default: this machine. */
  readonly peer?: string;
}

/** The HTTP API of a broker of its own, without a port, in virtual time. */
export interface ApiHarness {
  readonly clock: ManualClock;
  readonly broker: Broker;
  readonly host: ManagementHost;
  readonly api: Api;
  /** @param path below `/api`, as a client would write it */
  call(method: string, path: string, call?: ApiCall): Promise<Read>;
}

export interface HarnessOptions extends ApiOptions {
  readonly rabbitmq?: ProfileName;
  /** When a dead letter that did not arrive is routed again, in milliseconds. */
  readonly deadLetterRetryAfter?: number;
  /** Keeps its durable messages. Default: everything is in memory. */
  readonly journal?: Journal;
  /** What it is lent beside broker, time and patterns. */
  readonly host?: Partial<ManagementHost>;
  /** The same, of what needs the broker. */
  readonly makeHost?: (broker: Broker) => Partial<ManagementHost>;
}

export function apiHarness(options: HarnessOptions = {}): ApiHarness {
  const { host: more, makeHost, rabbitmq, journal, deadLetterRetryAfter, ...apiOptions } = options;
  const clock = new ManualClock();
  const patterns = policyPatterns; // patterns of HTTP clients are not trusted
  const broker = new Broker({
    clock,
    names: new CountedNames(),
    patterns,
    ...(rabbitmq && { rabbitmq }),
    ...(journal && { journal }),
    ...(deadLetterRetryAfter !== undefined && { deadLetterRetryAfter }),
  });
  addUsers(broker, [guestOf('/')]);
  const host: ManagementHost = { broker, now: () => clock.now(), patterns, ...more, ...makeHost?.(broker) };
  const api = createApi(host, apiOptions);
  const call = async (method: string, path: string, options: ApiCall = {}): Promise<Read> => {
    const { as = 'guest:guest', body, peer = '127.0.0.1' } = options;
    const headers = new Headers({ host: 'localhost:15672' });
    if (as !== '') headers.set('authorization', `Basic ${Buffer.from(as).toString('base64')}`);
    if (body !== undefined) headers.set('content-type', 'application/json');
    for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
    const url = `/api${path}`;
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const request = new Request(`http://localhost:15672${url}`, { method, headers, body: text ?? null });
    const incoming = { url, socket: { remoteAddress: peer } };
    const response = await api.fetch(request, { incoming } as never);
    const read = await response.text();
    return { status: response.status, headers: response.headers, body: read === '' ? undefined : JSON.parse(read) };
  };
  return { clock, broker, host, api, call };
}
