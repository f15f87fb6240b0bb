import { Refusal } from '../refusal.js';

/** A server that speaks AMQP. */
export interface ServerPlace {
  readonly kind: 'server';
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly user: string;
  readonly password: string;
  readonly vhost: string;
  readonly queue: string;
}

/** A data directory that no broker uses. */
export interface DirectoryPlace {
  readonly kind: 'directory';
  readonly directory: string;
  readonly vhost: string;
  readonly queue: string;
}

export type Place = ServerPlace | DirectoryPlace;

/**
 * Reads a URL of a server, `amqp://user:password@host:port/vhost` or `amqps://...`, or the path of a data directory.
 * @param option the option it was given as, for errors; a URL is not shown, for it may hold a password
 * @param vhost of a directory @throws Refusal
 */
export function placeOf(text: string | undefined, option: string, queue: string, vhost: string | undefined): Place {
  if (text === undefined || text === '')
    throw new Refusal(`--${option} must be amqp://HOST/VHOST, amqps://HOST/VHOST, or the path of a data directory`);
  if (!/^[a-z]+:\/\//i.test(text)) return { kind: 'directory', directory: text, vhost: vhost ?? '/', queue };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSecure = url?.protocol === 'amqps:';
  if (url === undefined || (!isSecure && url.protocol !== 'amqp:') || url.hostname === '')
    throw new Refusal(`--${option} is a URL, but not one of a server, such as amqp://127.0.0.1:5672/%2F`);
  return {
    kind: 'server',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isSecure ? 5671 : 5672) : Number(url.port),
    isSecure,
    user: decoded(url.username, option) || 'guest',
    password: decoded(url.password, option) || 'guest',
    // RabbitMQ's convention: no path is the default virtual host, and a slash alone one without a name.
    vhost: url.pathname === '' || url.pathname === '/' ? '/' : decoded(url.pathname.slice(1), option),
    queue,
  };
}

function decoded(text: string, option: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refusal(
      `--${option} is a URL with a percent sign that stands for nothing; write %25 for the sign itself`,
    );
  }
}

/** As messages name it, without a password. */
export function shownPlace(place: Place): string {
  const { queue, vhost } = place;
  if (place.kind === 'directory') return `queue '${queue}' in vhost '${vhost}' of ${place.directory}`;
  const host = place.host.includes(':') ? `[${place.host}]` : place.host;
  return `queue '${queue}' in vhost '${vhost}' of ${host}:${place.port}`;
}

/** Whether messages would go round. */
export const isSamePlace = (one: Place, other: Place): boolean => shownPlace(one) === shownPlace(other);
