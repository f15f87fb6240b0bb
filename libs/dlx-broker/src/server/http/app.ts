import { isIP } from 'node:net';
import { Hono } from 'hono';
import { resources as allResources } from '../api/resources.js';
import { probes } from '../api/resources/health.js';
import { answerConsole, type ConsoleFiles } from '../console/console.js';
import type { ManagementHost } from '../host.js';
import { type Bindings, Dispatcher } from './dispatcher.js';
import { notFound, Problem } from './reply.js';
import type { Resource } from './resource.js';

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
function checkOrigin({ method, headers, url }: Request, known: readonly string[]): void {
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
function isForeign(method: string, headers: Headers, host: string): boolean {
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

/** Where paths of RabbitMQ lead. */
const moved: Readonly<Record<string, string>> = {
  '/api': '/api/index.html',
  '/api/': '/api/index.html',
  '/doc/stats.html': '/api/index.html',
  '/cli': '/cli/index.html',
  '/cli/': '/cli/index.html',
  '/mgmt': '/',
  '/mgmt/': '/',
};

const aboutApi = `The HTTP API of dlx-broker has the paths of RabbitMQ's management API, for example /api/overview and /api/queues.
The reference is docs/reference/management.md of the package dlx-broker.
`;

/** The script is a part of RabbitMQ, and not of this package. */
const aboutScript = `dlx-broker does not contain rabbitmqadmin, which works with this API. Get the script from RabbitMQ, release 3.10.8:
https://raw.githubusercontent.com/rabbitmq/rabbitmq-server/v3.10.8/deps/rabbitmq_management/bin/rabbitmqadmin
`;

/** Adds the paths of RabbitMQ's port that are neither its API nor its console. They need no login. */
function addPages(app: Hono<{ Bindings: Bindings }>): void {
  for (const [path, to] of Object.entries(moved)) app.all(path, (c) => c.redirect(to, 301));
  app.get('/api/index.html', (c) => c.text(aboutApi));
  app.get('/cli/index.html', (c) => c.text(aboutScript));
  app.get('/cli/rabbitmqadmin', (c) => c.text(aboutScript, 404));
}

/** Options of the API. All have defaults. */
export interface ApiOptions {
  /** The accepted names in the Host header, besides `localhost` and addresses; `*` for any. */
  readonly hosts?: readonly string[];
  /** The most bytes of a request body. Default 20 MB, as in later releases of RabbitMQ. */
  readonly bodyLimit?: number;
  /**
   * Lets users with the tag `editor` or `administrator` edit messages before they are redriven. Default: false, because an edit
   * replaces what a publisher sent.
   */
  readonly edits?: boolean;
  /** Further resources. */
  readonly resources?: readonly Resource[];
  /** False: the port has the API only. Default: the console is at `/`. */
  readonly console?: boolean;
}

export type Api = Hono<{ Bindings: Bindings }>;

/**
 * Makes the API as a function of a request, without a port.
 * @param files the files of the console; without them there is no console
 */
export function createApi(host: ManagementHost, options: ApiOptions = {}, files?: ConsoleFiles): Api {
  const { hosts = [], bodyLimit = 20_000_000, edits = false, resources = [] } = options;
  const dispatcher = new Dispatcher(host, { bodyLimit, edits });
  // Paths are not normalised: a name may be `..` or have any percent sign.
  const app: Api = new Hono({ getPath: pathOf });
  protect(app, hosts);
  for (const resource of [...allResources, ...resources]) {
    const path = resource.isOutsideApi === true ? resource.path : `/api${resource.path}`;
    for (const each of [path, `${path}/`]) {
      app.all(each, (c) => dispatcher.enter(c, resource));
    }
  }
  for (const [path, probe] of Object.entries(probes)) {
    app.get(path, (c) => dispatcher.answer(c, probe(host)));
    app.all(path, (c) => dispatcher.answer(c, { status: 405, headers: { allow: 'HEAD, GET' } }));
  }
  addPages(app);
  if (files !== undefined && options.console !== false) {
    for (const path of ['/', '/console/*']) app.all(path, (c) => answerConsole(files, c.req.raw, c.req.path));
  }
  app.notFound((c) => dispatcher.answer(c, notFound().answer));
  app.onError((error, c) => dispatcher.refuse(c, error));
  return app;
}

/** Adds the headers of every answer, and refuses requests that pages of other origins make a browser send. */
function protect(app: Api, hosts: readonly string[]): void {
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of safeHeaders) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  });
  app.use(async (c, next) => {
    checkOrigin(c.req.raw, hosts);
    await next();
  });
}

/** The path of a request as it was sent: not decoded, and without its query. */
export function pathOf(request: Request, { env }: { readonly env?: unknown } = {}): string {
  const url =
    (env as Bindings | undefined)?.incoming?.url ??
    request.url.slice(request.url.indexOf('/', request.url.indexOf(':') + 3));
  return url.replace(/[?#].*$/s, '');
}
