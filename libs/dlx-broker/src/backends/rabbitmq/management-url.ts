import { bracketed, type HttpApi } from '../../platform/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { signs } from './address.js';
import type { ManagementPlace } from './declarations/existing.js';
import type { OpenLink } from './link.js';
import type { RabbitMqCredentials, ResolvedRabbitMq } from './options.js';

/** Checks the URL of a management API. @throws DlxConfigurationError, which never shows a password */
export function checkManagementUrl(url: unknown, origin: string): void {
  const refuse = (why: string): DlxConfigurationError =>
    new DlxConfigurationError(`${origin} ${why}; write 'http://user:password@host:15672'`);
  if (typeof url !== 'string') throw refuse(`is of the type ${typeof url}`);
  if (url.trim() === '') throw refuse('is empty');
  const read = URL.canParse(url) ? new URL(url) : undefined;
  if (read === undefined || read.hash !== '' || !/^https?:$/.test(read.protocol)) {
    throw refuse(`is no URL of HTTP (${signs})`);
  }
  try {
    managementApi(url, { user: '', password: '' });
  } catch {
    throw refuse("has a '%' in its user or password that encodes nothing; a '%' itself is written %25");
  }
}

/**
 * Reads `http://user:password@host:15672`. Default: the login of the connection.
 * @throws DlxConfigurationError when neither has a password
 */
export function managementApi(url: string, login: RabbitMqCredentials): HttpApi {
  const { origin, pathname, username, password } = new URL(url);
  const base = origin + pathname.replace(/\/+$/, '');
  if (username === '' && 'user' in login) return { base, user: login.user, password: login.password };
  if (username === '') {
    const why = 'names no user, and the login by EXTERNAL has no password for HTTP';
    throw new DlxConfigurationError(
      `option 'management' of rabbitmq() ${why}; write 'http://user:password@host:15672'`,
    );
  }
  return { base, user: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/**
 * The management API for a connection: that of the option, or the port that a dlx-broker announces.
 * @param management option `management`
 */
export function apiFor({ server: { http }, address, credentials }: OpenLink, management?: string): HttpApi | undefined {
  if (management !== undefined) return managementApi(management, credentials);
  // The port may have another certificate. The login of a connection with TLS must not be sent without TLS.
  if (!('user' in credentials) || http === undefined || http.isSecure || address.isSecure) return undefined;
  return { base: `http://${bracketed(address.host)}:${http.port}`, ...credentials };
}

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
