import { parseAddress, type ServerAddress } from '../../backend/index.js';
import { bracketed } from '../../host/index.js';
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
 * @param option the option it was given as, for errors; a URL is not shown, because it may hold a password
 * @param vhost of a directory @throws Refusal
 */
export function placeOf(text: string | undefined, option: string, queue: string, vhost: string | undefined): Place {
  if (text === undefined || text === '')
    throw new Refusal(`--${option} must be amqp://HOST/VHOST, amqps://HOST/VHOST, or the path of a data directory`);
  if (!/^[a-z]+:\/\//i.test(text)) return { kind: 'directory', directory: text, vhost: vhost ?? '/', queue };
  const { virtualHost, user, password, ...server } = addressIn(text, option);
  return {
    kind: 'server',
    ...server,
    user: user || 'guest',
    password: password || 'guest',
    vhost: virtualHost,
    queue,
  };
}

function addressIn(url: string, option: string): ServerAddress {
  try {
    return parseAddress(url, `--${option}`);
  } catch (error) {
    throw new Refusal((error as Error).message);
  }
}

/** As texts name it, without a password. */
export function shownPlace(place: Place): string {
  const { queue, vhost } = place;
  if (place.kind === 'directory') return `queue '${queue}' in vhost '${vhost}' of ${place.directory}`;
  return `queue '${queue}' in vhost '${vhost}' of ${bracketed(place.host)}:${place.port}`;
}

/** True if source and target are the same queue. */
export const isSamePlace = (one: Place, other: Place): boolean => shownPlace(one) === shownPlace(other);
