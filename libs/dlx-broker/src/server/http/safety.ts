import { isIP } from 'node:net';
import { Problem } from './reply.js';

/** Headers of every answer. Pages may weaken some of them; no page may be framed, or read from another origin. */
export const safeHeaders: ReadonlyMap<string, string> = new Map([
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cross-origin-opener-policy', 'same-origin'],
]);

/**
 * Refuses requests that a page of another origin makes a browser send.
 * @param known names of this server besides those of the machine; `*` for any
 * @throws Problem 421 for another host, 403 for a page of another origin
 */
export function checkOrigin({ method, headers, url }: Request, known: readonly string[]): void {
  const host = headers.get('host') || new URL(url).host; // browsers always send a name
  if (!isKnownHost(host, known)) {
    throw new Problem(421, 'misdirected_request', 'This server is not known by that host name');
  }
  if (isForeign(method, headers, host)) throw new Problem(403, 'forbidden', 'A page of another origin may not do this');
}

/**
 * True if a Host header names this server. With DNS rebinding a foreign page makes its own name point to this machine,
 * and has the same origin for the browser: only the name differs. An address is not the name of a foreign page.
 */
export function isKnownHost(host: string, known: readonly string[]): boolean {
  const name = hostname(host);
  if (name === undefined) return false;
  const isOwn = name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0;
  return isOwn || known.includes('*') || known.some((each) => each.toLowerCase() === name);
}

/** The host without port and brackets, in lower case; undefined if it is invalid. */
function hostname(authority: string): string | undefined {
  try {
    const { hostname: name, username, password, pathname, search, hash } = new URL(`http://${authority}`);
    return username + password + search + hash === '' && pathname === '/' ? name.replace(/^\[|\]$/g, '') : undefined;
  } catch {
    return undefined;
  }
}

const safeMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/**
 * True if the headers of a browser name a page of another site, for which the browser would also send a stored
 * password. Clients that send neither header, such as curl and rabbitmqadmin, are no current browsers.
 */
export function isForeign(method: string, headers: Headers, host: string): boolean {
  const site = headers.get('sec-fetch-site');
  // Pages cannot set this header. A proxy may have changed the name of the host, so it counts more than the origin.
  if (site === 'same-origin' || site === 'none') return false;
  if (site !== null) {
    // A link to this server may be followed: the browser shows the answer, and the page with the link cannot read it.
    return !(safeMethods.includes(method) && headers.get('sec-fetch-mode') === 'navigate');
  }
  const origin = headers.get('origin');
  if (origin === null || safeMethods.includes(method)) return false;
  return origin !== `http://${host}` && origin !== `https://${host}`;
}
