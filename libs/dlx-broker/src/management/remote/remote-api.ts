import { Hono } from 'hono';
import { namesIn, partsOf } from '../api/names.js';
import { type Api, type ApiOptions, pathOf, protect } from '../http/app.js';
import { jsonObject, readBody, valueIn } from '../http/body.js';
import { bodyLimitsFor, BodyMemory, type BodyShare } from '../http/body-memory.js';
import { Concurrency, type ConcurrencyLimits } from '../http/concurrency.js';
import { type ApiContext, isChange, knownMethods } from '../http/dispatcher.js';
import { type Answer, badRequest, notFound, ok, Problem, problemOf } from '../http/reply.js';
import { responseOf } from '../http/response.js';
import { inTurns } from '../http/turns.js';
import type { ConsoleFiles } from '../console/console-files.js';
import { answerConsole } from '../console/console-pages.js';
import { defaultReplyLimit } from '../management.js';
import type { Caller } from './caller.js';
import type { Remote } from './remote.js';
import { relay } from './relay.js';
import { relayOf } from './relayed.js';
import type { RemoteHandler, RemoteResource } from './resource.js';
import { remoteResources } from './resources.js';

/** The requests that are answered at a time: of one user, and in all. */
const atATime: ConcurrencyLimits = {
  ofUser: 32,
  all: 128,
  refusal: (ofUser) => `${ofUser} requests of this user wait for the server`,
};

/** Options of the API. All have defaults. */
export type RemoteApiOptions = Omit<ApiOptions, 'resources'>;

/**
 * Makes the API of the console of an application on a server: requests of the management API are passed on to the server, in the
 * name of their user. The paths of dlx-broker are answered here, if the server does not have them itself.
 * @param files the files of the console; without them there is no console
 */
export function createRemoteApi(remote: Remote, options: RemoteApiOptions, files?: ConsoleFiles): Api {
  const app: Api = new Hono({ getPath: pathOf });
  const dispatcher = new RemoteDispatcher(remote, options);
  protect(app, options.hosts ?? []);
  app.all('/api/*', (c) => dispatcher.enter(c));
  for (const path of ['/metrics', '/metrics/*']) app.all(path, (c) => dispatcher.answer(c, metricsElsewhere().answer));
  if (files !== undefined && options.console !== false) {
    for (const path of ['/', '/console/*']) app.all(path, (c) => answerConsole(files, c.req.raw, c.req.path));
  }
  app.notFound((c) => dispatcher.answer(c, notFound().answer));
  app.onError((error, c) => dispatcher.refuse(c, error));
  return app;
}

interface CallerContext {
  readonly caller: Caller;
  readonly share: BodyShare;
  readonly notes: Record<string, unknown>;
}

/** Checks what comes before the answer to a request, and sends it to its handler or to the server. */
class RemoteDispatcher {
  readonly #bodies: BodyMemory;
  readonly #bodyLimit: number;
  readonly #replyLimit: number;
  readonly #open = new Concurrency(atATime);

  constructor(
    readonly remote: Remote,
    { bodyLimit = 20_000_000, replyLimit = defaultReplyLimit }: RemoteApiOptions,
  ) {
    this.#bodyLimit = bodyLimit;
    this.#replyLimit = replyLimit;
    this.#bodies = new BodyMemory(bodyLimitsFor(bodyLimit));
  }

  async enter(c: ApiContext): Promise<Response> {
    const { method, raw } = c.req;
    if (!knownMethods.includes(method)) return this.answer(c, { status: 501 });
    // A closed socket has no address. It must not count as one of this machine.
    const peer = c.env?.incoming?.socket.remoteAddress ?? 'unknown';
    const caller = await this.remote.callers.of(raw.headers, peer, raw.signal);
    const { name } = caller.user;
    c.env?.visit?.entered(name);
    const leave = this.#open.begin(name);
    const share = this.#bodies.share(name);
    try {
      return await this.#handle(c, { caller, share, notes: {} });
    } finally {
      share.end();
      leave();
    }
  }

  async #handle(c: ApiContext, context: CallerContext): Promise<Response> {
    const { method, path } = c.req;
    const kind = await this.remote.kind(context.caller);
    const resource = kind === 'RabbitMQ' ? resourceAt(path) : undefined;
    if (resource !== undefined) {
      const allow = methodsOf(resource);
      if (!allow.includes(method)) return this.#notAllowed(c, allow);
      return this.#audited(c, context, resource.path, () => this.#own(c, context, resource));
    }
    if (kind === 'dlx-broker' && path === '/api/dlx/capabilities')
      return this.answer(c, ok(await this.remote.capabilities(context.caller)));
    const parts = partsIn(path);
    const passed = relayOf(parts, kind);
    if (passed === undefined) throw parts[0] === 'dlx' ? impossible() : notFound();
    const allow = ['HEAD', ...passed.methods];
    if (!allow.includes(method)) return this.#notAllowed(c, allow);
    return this.#audited(c, context, passed.path, () => this.#relayed(c, context, parts));
  }

  async #own(c: ApiContext, { caller, share, notes }: CallerContext, resource: RemoteResource): Promise<Response> {
    const { method, raw, url } = c.req;
    const visit = c.env?.visit;
    const handler = resource[method === 'HEAD' ? 'GET' : (method as 'GET')] as RemoteHandler;
    const text = async (): Promise<string> =>
      Buffer.from(await readBody(raw, this.#bodyLimit, (bytes) => share.keep(bytes))).toString();
    const request = {
      caller,
      names: namesIn(`/api${resource.path}`, c.req.path),
      query: new URL(url).searchParams,
      signal: raw.signal,
      note: (more: object) => void Object.assign(notes, more),
      body: async (...required: readonly string[]) =>
        jsonObject(await inTurns(valueIn(await text()), this.remote.turns, raw.signal), required),
    };
    if (visit === undefined || isChange(method)) return this.answer(c, await handler(request, this.remote));
    const answer = await handler(request, this.remote);
    const made = await visit.turn(caller.user.name, raw.signal);
    try {
      const response = await this.answer(c, answer);
      visit.made(caller.user.name, Number(response.headers.get('content-length') ?? 0));
      return response;
    } finally {
      made();
    }
  }

  async #relayed(c: ApiContext, { caller, share }: CallerContext, parts: readonly string[]): Promise<Response> {
    const { method, raw } = c.req;
    const body = isChange(method) ? await readBody(raw, this.#bodyLimit, (bytes) => share.keep(bytes)) : undefined;
    const { search } = new URL(raw.url);
    const { headers, signal } = raw;
    return relay(this.remote.server, caller, { method, parts, search, body, headers, signal });
  }

  /** Records a request that changes something, whether it was allowed or not. */
  async #audited(c: ApiContext, context: CallerContext, path: string, act: () => Promise<Response>): Promise<Response> {
    const { method } = c.req;
    if (!isChange(method)) return act();
    const { caller, notes } = context;
    const record = (status: number): void => {
      const names = namesIn(`/api${path}`, c.req.path);
      const entry = { user: caller.user.name, from: caller.peer, action: `${method} /api${path}`, names, status };
      this.remote.audit.record(Object.keys(notes).length === 0 ? entry : { ...entry, details: notes });
    };
    try {
      const response = await act();
      if (notes['dry_run'] !== true || !response.ok) record(response.status);
      return response;
    } catch (error) {
      record(problemOf(error)?.status ?? 500);
      throw error;
    } finally {
      this.remote.snapshots.forget(caller);
    }
  }

  #notAllowed(c: ApiContext, allow: readonly string[]): Promise<Response> {
    const headers = { allow: [...allow, 'OPTIONS'].join(', ') };
    return this.answer(c, { status: c.req.method === 'OPTIONS' ? 200 : 405, headers });
  }

  answer({ req }: ApiContext, answer: Answer): Promise<Response> {
    const { turns } = this.remote;
    return responseOf(answer, {
      isHead: req.method === 'HEAD',
      limit: this.#replyLimit,
      turns,
      signal: req.raw.signal,
    });
  }

  refuse(c: ApiContext, error: unknown): Response | Promise<Response> {
    const problem = problemOf(error);
    if (problem !== undefined) return this.answer(c, problem.answer);
    if (!c.req.raw.signal.aborted) this.remote.host.log?.(error);
    return this.answer(c, { status: 500, body: { error: 'internal_error', reason: 'Internal Server Error' } });
  }
}

const templates = remoteResources.map((resource) => ({ resource, parts: partsOf(resource.path) }));

function resourceAt(path: string): RemoteResource | undefined {
  const parts = partsOf(path).slice(1);
  const isMatch = (template: readonly string[]): boolean =>
    template.length === parts.length &&
    template.every((part, at) => (part.startsWith(':') ? parts[at] !== '' : part === parts[at]));
  return templates.find((template) => isMatch(template.parts))?.resource;
}

function methodsOf(resource: RemoteResource): readonly string[] {
  const known = (['GET', 'PUT', 'POST', 'DELETE'] as const).filter((name) => resource[name] !== undefined);
  return [...(resource.GET === undefined ? [] : ['HEAD']), ...known];
}

/** The parts of a path behind `/api`, decoded. @throws Problem 400 */
function partsIn(path: string): readonly string[] {
  try {
    return partsOf(path).slice(1).map(decodeURIComponent);
  } catch {
    throw badRequest('invalid percent-encoding in the path');
  }
}

/** A scraper that was pointed at this port should not believe that there are none. */
const metricsElsewhere = (): Problem =>
  new Problem(
    501,
    'not_possible',
    'This port has no metrics: those of the server are on its own port for Prometheus (RabbitMQ: plugin rabbitmq_prometheus, 15692), and registerDlxMetrics() puts those of the handlers into a registry of the application',
  );

const impossible = (): Problem =>
  new Problem(
    501,
    'not_possible',
    "RabbitMQ does not show messages without taking them out of their queue. List the queues of dead letters, redrive a whole queue, or move its messages to a dlx-broker with 'dlx-broker move' and look at them there",
  );
