import { opened } from '../../host/index.js';
import { filesOf, type HttpOptions, type HttpUrls } from '../http/http-listener.js';
import { type Answering, HttpPort } from '../http/http-port.js';
import { Problem } from '../http/reply.js';
import { ask } from './get-json.js';
import type { RemoteHost } from './host.js';
import { Remote } from './remote.js';

/** Address and limits of the port. */
export type RemoteOptions = Omit<HttpOptions, 'resources'>;

/**
 * Opens a port for the console of an application on a server.
 * @returns when clients can connect
 * @throws the error of the system, such as EADDRINUSE
 */
export async function listenRemote(host: RemoteHost, options: RemoteOptions = {}): Promise<RemoteListener> {
  return opened(new RemoteListener(host, options), options.host ?? '127.0.0.1', options.port ?? 15672);
}

/** The port of the console of an application on a server. */
export class RemoteListener {
  readonly #remote: Remote;
  readonly #port: HttpPort;
  readonly #hasConsole: boolean;

  /** See {@link listenRemote}. */
  constructor(host: RemoteHost, options: RemoteOptions) {
    this.#remote = new Remote(host);
    const files = options.console === false ? undefined : filesOf(host);
    this.#hasConsole = files !== undefined && files.size > 0;
    const load = async (): Promise<Answering> => {
      const { answeredBy, createRemoteApi } = await import('../http/requests.js');
      return answeredBy(createRemoteApi(this.#remote, options, files));
    };
    this.#port = new HttpPort(load, options, host.log);
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

  open(host: string, port: number): Promise<void> {
    return this.#port.open(host, port);
  }

  /** Asks the server whether it has a management API. @returns why the console cannot show it; undefined if it can */
  async trouble(): Promise<string | undefined> {
    const anonymous = { authorization: '', isLocal: true, peer: '' };
    try {
      const { status } = await ask(this.#remote.server, anonymous, ['whoami']);
      if (status === 401 || status === 200) return undefined;
      return `${this.#remote.server.base} answers ${status} to GET /api/whoami: it is no management API`;
    } catch (error) {
      return error instanceof Problem ? String(error.reason) : (error as Error).message;
    }
  }

  /** Closes the port and all connections. */
  close(): Promise<void> {
    return this.#port.close(() => this.#remote.close());
  }
}
