import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { bind, bracketed } from '../../platform/index.js';
import { isLoopback } from '../../platform/logins/index.js';
import {
  type ApiRequest,
  badRequest,
  eventLoop,
  type Handler,
  isKnownHost,
  type Management,
  onlyKnown,
  Problem,
  type Resource,
  safeHeaders,
  seenVhosts,
  TextStream,
  untilAborted,
} from '../index.js';
import { contentType } from './family.js';
import type { Endpoint, Meter } from './meter.js';
import { groupNames, pageOf, type PageRequest } from './pages.js';

/** The parameters of a page. */
const parameters: Readonly<Record<Endpoint, readonly string[]>> = {
  aggregated: [],
  'per-object': [],
  detailed: ['family', 'vhost'],
};

/** The pages of metrics on the port of the management API, for users with the tag monitoring. */
export function metricsResources(meter: Meter): readonly Resource[] {
  const page =
    (endpoint: Endpoint): Handler =>
    async (request, management) => {
      onlyKnown(request.query.keys(), parameters[endpoint], 'parameter');
      const asked: PageRequest = {
        endpoint,
        vhosts: seenVhosts(request, management),
        families: familiesIn(request.query),
      };
      return request.method === 'HEAD' ? new Response(null, { headers }) : streamed(meter, asked, request, management);
    };
  return [
    { path: '/metrics', isOutsideApi: true, allows: 'monitor', GET: page('aggregated') },
    { path: '/metrics/per-object', isOutsideApi: true, allows: 'monitor', GET: page('per-object') },
    { path: '/metrics/detailed', isOutsideApi: true, allows: 'monitor', GET: page('detailed') },
  ];
}

/** The groups that a request for details names. @throws Problem 400 for an unknown one */
function familiesIn(query: URLSearchParams): readonly string[] {
  const asked = query.getAll('family');
  const unknown = asked.find((name) => !groupNames.includes(name));
  if (unknown !== undefined)
    throw badRequest(`'family' is one of ${groupNames.join(', ')}, not '${unknown.slice(0, 100)}'`);
  return asked;
}

const headers = { 'content-type': contentType, 'cache-control': 'no-store' };

async function streamed(
  meter: Meter,
  asked: PageRequest,
  { signal }: ApiRequest,
  { dlx }: Management,
): Promise<Response> {
  const stream = new TextStream({ work: await pageOf(meter, asked, dlx.graphs), turns: dlx.turns });
  return untilAborted(stream, signal, headers);
}

/** The address of a port for metrics. */
export interface MetricsOptions {
  /** Default `127.0.0.1`. Clients that reach the port can read the metrics: it has no login. */
  readonly host?: string;
  /** Default 15692, as in RabbitMQ; 0 is a free port. */
  readonly port?: number;
}

const limits = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
} as const;

/** The most connections, and pages that are made at the same time. */
const mostConnections = 64;
const mostPages = 4;

/** The milliseconds in which a client has to read. Without a login, slow readers could take all pages for themselves. */
export interface ReadingLimits {
  /** The longest pause between two pieces. */
  readonly piece: number;
  /** A whole page. */
  readonly page: number;
}

const defaultReading: ReadingLimits = { piece: 30_000, page: 60_000 };

/** The port for metrics: only the pages, without a login, as in RabbitMQ. */
export class MetricsListener {
  readonly #server: Server;
  readonly #log: (error: unknown) => void;
  #pages = 0;

  constructor(
    readonly meter: Meter,
    readonly options: MetricsOptions = {},
    log: (error: unknown) => void = () => undefined,
    private readonly reading: ReadingLimits = defaultReading,
  ) {
    this.#log = log;
    this.#server = createServer(limits, (request, response) => {
      this.#answer(request, response).catch((error: NodeJS.ErrnoException) => {
        response.destroy();
        if (!isGone(error)) this.#log(error);
      });
    });
    this.#server.maxConnections = mostConnections;
  }

  get host(): string {
    return (this.#server.address() as AddressInfo).address;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The pages that are being read. */
  get pages(): number {
    return this.#pages;
  }

  /** `http://127.0.0.1:15692/metrics` */
  get url(): string {
    return `http://${bracketed(this.host)}:${this.port}/metrics`;
  }

  /** @throws the error of the system, such as EADDRINUSE */
  open(): Promise<void> {
    const { host = '127.0.0.1', port = 15692 } = this.options;
    return bind(this.#server, { host, port }, this.#log);
  }

  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    return closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of safeHeaders) response.setHeader(name, value);
    const asked = this.#asked(request);
    if (asked instanceof Problem) return refuse(response, asked);
    response.setHeader('content-type', contentType);
    response.setHeader('cache-control', 'no-store');
    if (request.method === 'HEAD') return void response.end();
    this.#pages++;
    try {
      const { body } = new TextStream({ work: await pageOf(this.meter, asked), turns: eventLoop });
      response.setTimeout(this.reading.piece, () => void response.destroy());
      await pipeline(body, response, { signal: AbortSignal.timeout(this.reading.page) });
    } finally {
      this.#pages--;
    }
  }

  #asked({ method, headers, url = '/' }: IncomingMessage): PageRequest | Problem {
    // On loopback, a foreign web page could reach this port by a host name that points here (DNS rebinding).
    if (isLoopback(this.host) && !isKnownHost(headers.host ?? '', []))
      return new Problem(421, 'misdirected_request', 'This server is not known by that host name');
    if (method !== 'GET' && method !== 'HEAD') return new Problem(405, 'method_not_allowed', 'GET and HEAD only');
    if (this.#pages >= mostPages)
      return new Problem(503, 'too_many_requests', `${mostPages} pages are being read`, { 'retry-after': '1' });
    const place = url.indexOf('?');
    const path = place < 0 ? url : url.slice(0, place);
    const query = new URLSearchParams(place < 0 ? '' : url.slice(place + 1));
    return (
      this.#page(path, query) ??
      new Problem(404, 'not_found', 'There are /metrics, /metrics/per-object, /metrics/detailed')
    );
  }

  #page(path: string, query: URLSearchParams): PageRequest | Problem | undefined {
    if (path === '/metrics') return { endpoint: 'aggregated' };
    if (path === '/metrics/per-object') return { endpoint: 'per-object' };
    if (path !== '/metrics/detailed') return undefined;
    const all = this.meter.of?.broker.virtualHosts ?? new Map();
    const names = query.getAll('vhost');
    const vhosts = names.length === 0 ? undefined : names.flatMap((name) => all.get(name) ?? []);
    try {
      return { endpoint: 'detailed', families: familiesIn(query), ...(vhosts && { vhosts }) };
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  }
}

function refuse(response: ServerResponse, { answer: { status, body, headers } }: Problem): void {
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** True if a client has gone, or was disconnected because it did not read. */
const isGone = ({ name, code }: NodeJS.ErrnoException): boolean =>
  name === 'AbortError' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'EPIPE';
