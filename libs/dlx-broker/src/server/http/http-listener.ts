import type { ApiOptions } from './app.js';
import { opened } from '../../platform/index.js';
import { builtConsole, type ConsoleFiles, consoleFiles } from '../console/console.js';
import { Dlx } from '../dlx/state.js';
import { type Answering, HttpPort, type HttpPortOptions } from './http-port.js';
import type { ManagementHost, OpenPort } from '../host.js';
import { interval, Statistics } from '../statistics/statistics.js';

export type { HttpLimits } from './http-port.js';

/** Address and limits of the management API. */
export interface HttpOptions extends ApiOptions, HttpPortOptions {}

/**
 * Opens a port for the HTTP API.
 * @returns when clients can connect
 * @throws the error of the system, such as EADDRINUSE
 */
export async function listenHttp(host: ManagementHost, options: HttpOptions = {}): Promise<HttpListener> {
  const files = options.console === false ? undefined : consoleFiles(await (host.console ?? builtConsole)());
  return opened(new HttpListener(host, options, files), options.host ?? '127.0.0.1', options.port ?? 15672);
}

/** The URLs of the port. */
interface HttpUrls {
  /** `http://127.0.0.1:15672/api` */
  readonly api: string;
  /** `http://127.0.0.1:15672/`; undefined if the port has no console. */
  readonly console: string | undefined;
}

/** The port of the management API, and its connections. */
export class HttpListener {
  readonly #port: HttpPort;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #hasConsole: boolean;
  /** The state that the listener made and closes; undefined if the host has given one. */
  readonly #dlx: Dlx | undefined;

  /** See {@link listenHttp}. */
  constructor(host: ManagementHost, options: HttpOptions, files: ConsoleFiles | undefined) {
    const statistics = host.statistics ?? new Statistics(host.broker, host.now, host.data?.directory, host.memory);
    this.#dlx = host.dlx === undefined ? new Dlx(host) : undefined;
    const sample = (): void => {
      try {
        statistics.sample();
      } catch (error) {
        host.log?.(error);
      }
    };
    const ports = (): readonly OpenPort[] => [...(host.ports?.() ?? []), ...this.#ports()];
    this.#hasConsole = files !== undefined && files.size > 0;
    const complete = { ...host, statistics, ports, ...(this.#dlx && { dlx: this.#dlx }) };
    const load = async (): Promise<Answering> => {
      const { answeredBy, createApi } = await import('./requests.js');
      return answeredBy(createApi(complete, options, files));
    };
    this.#port = new HttpPort(load, options, host.log);
    // Last, because an invalid certificate is refused above.
    if (host.statistics === undefined) this.#timer = setInterval(sample, interval).unref();
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#port.connections;
  }

  get host(): string {
    return this.#port.host;
  }

  get port(): number {
    return this.#port.port;
  }

  get urls(): HttpUrls {
    const base = this.#port.url;
    return { api: `${base}api`, console: this.#hasConsole ? base : undefined };
  }

  #ports(): readonly OpenPort[] {
    return this.#port.isOpen ? [{ protocol: this.#port.protocol, host: this.host, port: this.port }] : [];
  }

  open(host: string, port: number): Promise<void> {
    return this.#port.open(host, port);
  }

  /** Closes the port and all connections. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#port.close(() => this.#dlx?.close());
  }
}
