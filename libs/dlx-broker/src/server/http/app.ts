import { Hono } from 'hono';
import { type Bindings, Dispatcher } from './dispatcher.js';
import type { ManagementHost } from '../host.js';
import { addPages } from './pages.js';
import { notFound } from './reply.js';
import type { Resource } from './resource.js';
import { probes } from '../api/probes.js';
import { resources as allResources } from '../api/resources.js';
import type { ConsoleFiles } from '../console/console-files.js';
import { answerConsole } from '../console/console-pages.js';
import { checkOrigin, safeHeaders } from './safety.js';

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
export function protect(app: Api, hosts: readonly string[]): void {
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
