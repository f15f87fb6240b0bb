import type { HttpApi } from '../../platform/index.js';
import type { ManagementPlace } from './declarations/existing.js';
import type { OpenLink } from './link.js';
import { apiFor, managementApi } from './management-url.js';
import type { ResolvedRabbitMq } from './options.js';

/** The HTTP APIs of the servers of a backend. Calls end with it: they would keep the process alive. */
export class HttpAccess {
  readonly #ending = new AbortController();

  constructor(private readonly management: ResolvedRabbitMq['management']) {}

  /** The management API of option `management`; undefined without the option. */
  managed(link: OpenLink): ManagementPlace | undefined {
    if (this.management === undefined) return undefined;
    const { virtualHost } = link.address;
    return { ...managementApi(this.management, link.credentials), virtualHost, signal: this.#ending.signal };
  }

  /**
   * What a server offers over its HTTP API.
   * @param which `any` server with an HTTP API, or only a dlx-broker (`own`)
   * @param make makes it from the API and the virtual host
   */
  over<T>(
    link: OpenLink | undefined,
    which: 'any' | 'own',
    make: (api: HttpApi, virtualHost: string) => T,
  ): T | undefined {
    if (link === undefined || (which === 'own' && link.server.info.product !== 'dlx-broker')) return undefined;
    const api = apiFor(link, this.management);
    return api && make({ ...api, signal: this.#ending.signal }, link.address.virtualHost);
  }

  /** Ends all calls. */
  end(): void {
    this.#ending.abort();
  }
}
