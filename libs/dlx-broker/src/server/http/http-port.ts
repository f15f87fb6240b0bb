import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { bind, bracketed } from '../../platform/index.js';
import { type ConnectionLimits, defaultConnectionLimits, HttpConnections, type Visit } from './http-connections.js';
import { eventLoop } from './turns.js';

/** Answers a request. */
export type Answering = (request: IncomingMessage, response: ServerResponse, visit: Visit) => void;

/** Address and limits of a port for HTTP. */
export interface HttpPortOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Default 15672; 0 is a free port. */
  readonly port?: number;
  readonly limits?: Partial<HttpLimits>;
  /** Certificate and key in PEM, for TLS 1.2 or later. Without them passwords cross the network in clear text. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
}

/** Limits of the HTTP listener. A client that sends a request byte by byte delays no other client. */
export interface HttpLimits extends ConnectionLimits {
  /** The milliseconds in which a connection has to send the headers of its first request, and of each further one. */
  readonly headersTimeout: number;
  /** The milliseconds in which a whole request has to arrive. */
  readonly requestTimeout: number;
  /** The milliseconds that a connection may be idle between two requests. */
  readonly keepAliveTimeout: number;
  /** The milliseconds without any traffic after which a connection ends: its client reads no reply. */
  readonly writeTimeout: number;
  /** The most bytes of all headers of a request. */
  readonly maxHeaderSize: number;
}

const defaultHttpLimits: HttpLimits = {
  ...defaultConnectionLimits,
  headersTimeout: 5_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 5_000,
  writeTimeout: 30_000,
  maxHeaderSize: 16_384,
};

/** The body of each reply if what answers requests could not be loaded. */
const notLoaded = JSON.stringify({
  error: 'service_unavailable',
  reason: 'the files of the HTTP API could not be loaded: see the log of this process',
});

/** A port for HTTP, and its connections. */
export class HttpPort {
  readonly protocol: 'http' | 'https';
  readonly #server: Server;
  readonly #connections: HttpConnections;
  readonly #log: ((error: unknown) => void) | undefined;
  readonly #load: () => Promise<Answering>;
  #loaded: Promise<Answering> | undefined;
  #answer: Answering = (request, response, visit) => this.#answerLater(request, response, visit);

  /**
   * @param load gives what answers the requests; called as soon as the port is open
   * @param log gets the errors of the socket, and an error of `load`
   */
  constructor(load: () => Promise<Answering>, options: HttpPortOptions, log: ((error: unknown) => void) | undefined) {
    this.#log = log;
    this.#load = load;
    const limits = { ...defaultHttpLimits, ...options.limits };
    const connectionsCheckingInterval = Math.min(1_000, limits.headersTimeout);
    const { headersTimeout, requestTimeout, keepAliveTimeout, maxHeaderSize } = limits;
    const settings = { headersTimeout, requestTimeout, keepAliveTimeout, maxHeaderSize, connectionsCheckingInterval };
    const connections = (this.#connections = new HttpConnections(limits, () => performance.now()));
    const listener: RequestListener = (request, response) => {
      const visit = connections.visit(request, response);
      if (visit === undefined) return void request.socket.destroy();
      this.#answer(request, response, visit);
    };
    const { tls } = options;
    this.protocol = tls === undefined ? 'http' : 'https';
    this.#server =
      tls === undefined
        ? createServer(settings, listener)
        : createTlsServer(
            { ...settings, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: limits.headersTimeout },
            listener,
          );
    this.#server.setTimeout(limits.writeTimeout);
    this.#server.on('connection', (socket: Socket) => connections.accept(socket));
    this.#server.on('secureConnection', (socket: Socket) => connections.secured(socket));
  }

  /** Loads what answers requests, once. */
  #loading(): Promise<Answering> {
    if (this.#loaded !== undefined) return this.#loaded;
    const loaded = (this.#loaded = this.#load());
    loaded.then(
      (answer) => (this.#answer = answer),
      (error: unknown) => this.#log?.(error),
    );
    return loaded;
  }

  /** Lets a request wait until what answers it is loaded. A request whose client has gone by then has lost its body, and is dropped. */
  #answerLater(request: IncomingMessage, response: ServerResponse, visit: Visit): void {
    this.#loading().then(
      (answer) => {
        if (!request.destroyed) answer(request, response, visit);
      },
      () => response.writeHead(503, { 'content-type': 'application/json', connection: 'close' }).end(notLoaded),
    );
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#connections.count;
  }

  get isOpen(): boolean {
    return this.#server.listening;
  }

  get host(): string {
    return (this.#server.address() as AddressInfo).address;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** `http://127.0.0.1:15672/` */
  get url(): string {
    return `${this.protocol}://${bracketed(this.host)}:${this.port}/`;
  }

  /**
   * What answers requests is loaded in a later turn, so that the port is open early. It does not wait for the first request: by then
   * the process may be short of descriptors, or another version of the package may have replaced the files.
   * @throws the error of the system, such as EADDRINUSE
   */
  async open(host: string, port: number): Promise<void> {
    await bind(this.#server, { host, port }, (error) => this.#log?.(error));
    setImmediate(() => {
      if (this.isOpen) void this.#loading().catch(() => undefined);
    });
  }

  /**
   * Closes the port and all connections.
   * @param end ends the work of requests: it is called when no new request can come
   */
  async close(end: () => Promise<void> | undefined = async () => undefined): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await this.#loaded?.catch(() => undefined); // what is read from the disk is not left behind
    await end();
    await eventLoop.next(); // ends the streams of events
    this.#server.closeAllConnections();
    await closed;
  }
}
