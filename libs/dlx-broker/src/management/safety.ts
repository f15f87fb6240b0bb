import { isLoopback } from '../users/index.js';
import { Problem } from './reply.js';

/** Of every answer. Pages that need more say so themselves; nobody may frame any of them. */
export const safeHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** The host of a Host header or an origin, without its port; undefined when it is none. */
function hostname(authority: string): string | undefined {
  try {
    const { hostname: name, username, pathname } = new URL(`http://${authority}`);
    return username === '' && pathname === '/' ? name.replace(/^\[|\]$/g, '') : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a Host header names us. A page of somebody else that makes its own name point to this machine (DNS rebinding)
 * is of our origin in the eyes of its browser: only the name gives it away.
 * @param known names beside those of this machine; `*` for any
 */
export function isKnownHost(host: string | undefined, known: readonly string[]): boolean {
  if (host === undefined) return false;
  const name = hostname(host);
  if (name === undefined) return false;
  return name === 'localhost' || isLoopback(name) || known.includes('*') || known.includes(name);
}

const safeMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Whether a browser says that another site's page asks. Browsers send the password they know with such a request, too.
 * Whoever sends neither header is no browser: curl and rabbitmqadmin do as they like.
 */
export function isForeign(method: string, headers: Headers, host: string): boolean {
  const site = headers.get('sec-fetch-site');
  if (site === 'cross-site' || site === 'same-site') {
    // A link to here may be followed: a page that is gone to is shown, not read by the one that links.
    return !(safeMethods.includes(method) && headers.get('sec-fetch-mode') === 'navigate');
  }
  const origin = headers.get('origin');
  if (origin === null || safeMethods.includes(method)) return false;
  return !origin.endsWith(`://${host}`);
}

export const foreignHost = (): Problem =>
  new Problem(421, 'misdirected_request', 'This host name is not one of this server: see its option for host names');
export const foreignPage = (): Problem => new Problem(403, 'forbidden', 'A page of another origin may not do this');
