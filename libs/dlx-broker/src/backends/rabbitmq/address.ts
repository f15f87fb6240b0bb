import { bracketed } from '../../platform/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';

/** Where a server is, as a URL says it. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly virtualHost: string;
  /** Undefined when the URL names no user. */
  readonly user: string | undefined;
  readonly password: string | undefined;
}

const ports: Readonly<Record<string, number>> = { 'amqp:': 5672, 'amqps:': 5671 };

const remedy = "write 'amqp://host:5672/vhost', or 'amqps://...' for TLS";

/** Why a URL seems to have another host than the written one, or parameters. */
export const signs = "in a password '#' is written %23, '/' %2F and '?' %3F";

/**
 * Reads `amqp://user:password@host:port/vhost`, as RabbitMQ's URI specification has it: parts may be percent-encoded
 * (`%2F`). No virtual host, or an empty one, is `/`.
 * @param origin where the URL is written, for errors, which never show a password
 * @throws DlxConfigurationError
 */
export function parseAddress(url: unknown, origin: string): ServerAddress {
  const refuse = (why: string): DlxConfigurationError => new DlxConfigurationError(`${origin} ${why}; ${remedy}`);
  if (typeof url !== 'string') throw refuse(`is of the type ${typeof url}, and no URL`);
  if (url.trim() === '') throw refuse('is empty');
  let read: URL;
  try {
    read = new URL(url);
  } catch {
    throw refuse(`is no URL (${signs})`);
  }
  const { protocol, hostname, port, pathname, search, hash } = read;
  const usual = ports[protocol];
  if (usual === undefined) throw refuse(url.includes('://') ? `begins with '${protocol}//'` : 'has no scheme');
  if (hostname === '') throw refuse('names no host');
  if (search !== '' || hash !== '')
    throw refuse(`has parameters behind the virtual host, which are options of rabbitmq() (${signs})`);
  if (pathname.indexOf('/', 1) !== -1) throw refuse("has a '/' in its virtual host, which is written %2F");
  const decoded = (part: string, what: string): string => {
    try {
      return decodeURIComponent(part);
    } catch {
      throw refuse(`has a ${what} with a '%' that encodes nothing; a '%' itself is written %25`);
    }
  };
  return {
    host: hostname.replace(/^\[|\]$/g, ''), // an IPv6 address
    port: port === '' ? usual : Number(port),
    isSecure: protocol === 'amqps:',
    virtualHost: decoded(pathname.slice(1), 'virtual host') || '/',
    user: read.username === '' ? undefined : decoded(read.username, 'user'),
    password: read.username === '' && read.password === '' ? undefined : decoded(read.password, 'password'),
  };
}

/** Reads a list of URLs. @throws DlxConfigurationError for an empty list, or for URLs of several virtual hosts */
export function parseAddresses(urls: unknown, origin: string): readonly ServerAddress[] {
  const list: readonly unknown[] = Array.isArray(urls) ? urls : [urls];
  if (list.length === 0) throw new DlxConfigurationError(`${origin} is an empty list; ${remedy}`);
  const addresses = list.map((url, index) => parseAddress(url, list.length === 1 ? origin : `${origin}[${index}]`));
  const others = new Set(addresses.map(({ virtualHost }) => virtualHost));
  if (others.size === 1) return addresses;
  throw new DlxConfigurationError(
    `${origin} names several virtual hosts ('${[...others].join("', '")}'); the servers of one cluster have the same`,
  );
}

/** Host and port as errors name them. */
export const placeOf = ({ host, port }: ServerAddress): string => `${bracketed(host)}:${port}`;
