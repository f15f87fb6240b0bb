import { isIP } from 'node:net';
import { Problem } from './reply.js';

/** Of every answer. Pages that need more say so themselves; no page may frame them or read them from another origin. */
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
 * @param known names of this server beside those of the machine; `*` for any
 * @throws Problem 421 when the request is for another host, 403 when it is from another page
 */
export function checkOrigin({ method, headers, url }: Request, known: readonly string[]): void {
  const host = headers.get('host') ?? new URL(url).host;
  if (!isKnownHost(host, known)) {
    throw new Problem(421, 'misdirected_request', 'This server is not known by that host name');
  }
  if (isForeign(method, headers, host)) throw new Problem(403, 'forbidden', 'A page of another origin may not do this');
}

/**
 * Whether a Host header names this server. A foreign page that makes its own name point to this machine (DNS rebinding)
 * has the same origin for its browser: only the name differs. An address is not the name of a foreign page.
 */
export function isKnownHost(host: string, known: readonly string[]): boolean {
  const name = hostname(host);
  if (name === undefined) return false;
  const isOwn = name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0;
  return isOwn || known.includes('*') || known.some((each) => each.toLowerCase() === name);
}

/** Without port and brackets, in small letters; undefined when it is none. */
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
 * Whether the headers of a browser name a page of another site, for which the browser would send a stored password,
 * too. A client that sends neither header is no current browser: curl and rabbitmqadmin send none.
 */
export function isForeign(method: string, headers: Headers, host: string): boolean {
  const site = headers.get('sec-fetch-site');
  // A browser's own word, which no page can put in its mouth; a proxy may have changed the name of the host meanwhile.
  if (site === 'same-origin' || site === 'none') return false;
  if (site !== null) {
    // A link to here may be followed: what is gone to is shown, not read by the page with the link.
    return !(safeMethods.includes(method) && headers.get('sec-fetch-mode') === 'navigate');
  }
  const origin = headers.get('origin');
  if (origin === null || safeMethods.includes(method)) return false;
  return origin !== `http://${host}` && origin !== `https://${host}`;
}
