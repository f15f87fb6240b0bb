import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type ApiOptions, createApi } from './app.js';
import { bracketed } from '../../host/index.js';
import { type ConsoleFiles, consoleFiles } from '../console/console-files.js';
import { Dlx } from '../dlx/dlx.js';
import { eventLoop } from './turns.js';
import { type ConnectionLimits, HttpConnections, defaultConnectionLimits, type Visit } from './http-connections.js';
import type { ManagementHost, OpenPort } from '../host.js';
import { interval, Statistics } from '../statistics/statistics.js';

/** Address and limits of the management API. */
export interface HttpOptions extends ApiOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Default 15672; 0 is a free port. */
  readonly port?: number;
  readonly limits?: Partial<HttpLimits>;
  /** Certificate and key in PEM, for TLS 1.2 or later. Without them passwords cross the network in clear text. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
}

/**
 * Opens a port for the HTTP API.
 * @returns when clients can connect
 * @throws the error of the system, such as EADDRINUSE
 */
export async function listenHttp(host: ManagementHost, options: HttpOptions = {}): Promise<HttpListener> {
  const listener = new HttpListener(host, options);
  try {
    await listener.open(options.host ?? '127.0.0.1', options.port ?? 15672);
    return listener;
  } catch (error) {
    await listener.close();
    throw error;
  }
}

/** Limits of the HTTP listener. A client that sends a request byte by byte delays no other client. */
export interface HttpLimits extends ConnectionLimits {
  /** The milliseconds in which a connection has to send the headers of its first request, and of each further one. */
  readonly headersTimeout: number;
  /** The milliseconds in which a whole request has to arrive. */
  readonly requestTimeout: number;
  /** The milliseconds that a connection may be idle between two requests. */
  readonly keepAliveTimeout: number;
  /** The most bytes of all headers of a request. */
  readonly maxHeaderSize: number;
}

export const defaultHttpLimits: HttpLimits = {
  ...defaultConnectionLimits,
  headersTimeout: 5_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16_384,
};

/** The milliseconds between two checks of unread replies. */
const checkInterval = 500;

/** The URLs of the port. */
export interface HttpUrls {
  /** `http://127.0.0.1:15672/api` */
  readonly api: string;
  /** `http://127.0.0.1:15672/`; undefined if the port has no console. */
  readonly console: string | undefined;
}

/** The port of the management API, and its connections. */
export class HttpListener {
  readonly #server: Server;
  readonly #protocol: 'http' | 'https';
  readonly #log: ManagementHost['log'];
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #connections: HttpConnections;
  readonly #checks: NodeJS.Timeout;
  readonly #hasConsole: boolean;
  /** The state that the listener made and closes; undefined if the host has given one. */
  readonly #dlx: Dlx | undefined;

  /** See {@link listenHttp}. */
  constructor(host: ManagementHost, options: HttpOptions) {
    this.#log = host.log;
    const statistics = host.statistics ?? new Statistics(host.broker, host.now, host.data?.directory, host.memory);
    this.#dlx = host.dlx === undefined ? new Dlx(host) : undefined;
    const { turns } = host.dlx ?? (this.#dlx as Dlx);
    const sample = (): void => void statistics.sampleIn(turns).catch((error: unknown) => host.log?.(error));
    const ports = (): readonly OpenPort[] => [...(host.ports?.() ?? []), ...this.#ports()];
    const files = options.console === false ? undefined : filesOf(host);
    this.#hasConsole = files !== undefined && files.size > 0;
    const api = createApi({ ...host, statistics, ports, ...(this.#dlx && { dlx: this.#dlx }) }, options, files);
    const visits = new WeakMap<object, Visit>();
    const answer = getRequestListener(
      (request, env) => api.fetch(request, { ...env, visit: visits.get(env.outgoing) }),
      {
        overrideGlobalObjects: false,
      },
    );
    const limits = { ...defaultHttpLimits, ...options.limits };
    const connectionsCheckingInterval = Math.min(1_000, limits.headersTimeout);
    const { headersTimeout, requestTimeout, keepAliveTimeout, maxHeaderSize } = limits;
    const settings = { headersTimeout, requestTimeout, keepAliveTimeout, maxHeaderSize, connectionsCheckingInterval };
    const connections = (this.#connections = new HttpConnections(limits, () => performance.now()));
    const listener: RequestListener = (request, response) => {
      const visit = connections.visit(request, response);
      if (visit === undefined) return void request.socket.destroy();
      visits.set(response, visit);
      void answer(request, response);
    };
    const { tls } = options;
    this.#protocol = tls === undefined ? 'http' : 'https';
    this.#server =
      tls === undefined
        ? createServer(settings, listener)
        : createTlsServer(
            { ...settings, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: limits.headersTimeout },
            listener,
          );
    this.#server.on('connection', (socket: Socket) => connections.accept(socket));
    this.#server.on('secureConnection', (socket: Socket) => connections.secured(socket));
    // Last, because an invalid certificate is refused above.
    if (host.statistics === undefined) this.#timer = setInterval(sample, interval).unref();
    this.#checks = setInterval(() => connections.check(), checkInterval).unref();
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#connections.count;
  }

  get host(): string {
    return (this.#server.address() as AddressInfo).address;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get urls(): HttpUrls {
    const base = `${this.#protocol}://${bracketed(this.host)}:${this.port}/`;
    return { api: `${base}api`, console: this.#hasConsole ? base : undefined };
  }

  #ports(): readonly OpenPort[] {
    return this.#server.listening ? [{ protocol: this.#protocol, host: this.host, port: this.port }] : [];
  }

  open(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject);
        this.#server.on('error', (error) => this.#log?.(error));
        resolve();
      });
    });
  }

  /** Closes the port and all connections. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    clearInterval(this.#checks);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await this.#dlx?.close();
    await eventLoop.next(); // ends the streams of events
    this.#server.closeAllConnections();
    await closed;
  }
}

/** The files of the console; none if they cannot be read, because the API works without them. */
function filesOf({ consoleDirectory, log }: ManagementHost): ConsoleFiles {
  try {
    return consoleFiles(consoleDirectory);
  } catch (error) {
    log?.(error);
    return new Map();
  }
}
