import type { HttpApi } from '../../platform/index.js';
import { CtlFailure, exit } from './exit.js';

/** The options that name a server and the user who logs in. */
export interface LoginFlags {
  readonly url?: string;
  readonly user?: string;
  readonly password?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const usage = (text: string): CtlFailure => new CtlFailure(exit.usage, `Error: ${text}`);

/** Reads the options, or else the environment. Default: the address and login of a new broker on this machine. @throws CtlFailure */
export function addressOf(flags: LoginFlags, env: Environment): HttpApi {
  const option = (name: keyof LoginFlags): string | undefined =>
    flags[name] || env[`DLX_BROKER_${name.toUpperCase()}`] || undefined;
  const url = urlOf(option('url') ?? 'http://127.0.0.1:15672');
  const user = option('user') ?? decoded(url.username);
  const password = option('password') ?? decoded(url.password);
  url.username = '';
  url.password = '';
  const base = url.href.replace(/\/$/, '');
  if (user === undefined && !isLoopback(url.hostname))
    throw usage(`who asks ${base}? Name a --user and its --password, or set DLX_BROKER_USER and DLX_BROKER_PASSWORD`);
  if (user !== undefined && password === undefined)
    throw usage(`user '${user}' needs a password: --password or DLX_BROKER_PASSWORD`);
  return { base, user: user ?? 'guest', password: password ?? 'guest' };
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  // The URL may hold a password, so the error does not show it.
  throw usage('--url (or DLX_BROKER_URL) is not the address of a management API, such as http://127.0.0.1:15672');
}

function decoded(text: string): string | undefined {
  if (text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.[0-9]+){3}|\[::1\])$/.test(host);
