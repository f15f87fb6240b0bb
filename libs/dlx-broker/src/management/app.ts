import type { IncomingMessage } from 'node:http';
import { type Context, Hono } from 'hono';
import type { User } from '../broker/index.js';
import { isLoopback, LoginThrottle, usersOf } from '../users/index.js';
import { basicCredentials, checkAudience, checkVhost, loginFailed, unknownUser } from './auth.js';
import { jsonObject, readBody } from './body.js';
import type { ManagementHost } from './host.js';
import { Management } from './management.js';
import { namesIn } from './names.js';
import { type Answer, notFound, Problem, problemOf } from './reply.js';
import { type ApiRequest, methodNames, type Resource } from './resource.js';
import { resources as allResources } from './resources.js';
import { foreignHost, foreignPage, isForeign, isKnownHost, safeHeaders } from './safety.js';

/** What the world sees of the API; everything has a default. */
export interface ApiOptions {
  /** Names in the Host header beside those of this machine; `*` for any. */
  readonly hosts?: readonly string[];
  /** Bytes of a request's body: 20 MB unless told, as in later releases of RabbitMQ. */
  readonly bodyLimit?: number;
  /** Beside those of the registry. */
  readonly resources?: readonly Resource[];
}

/** What the adapter to Node hands over; a test makes one up. */
export interface Bindings {
  readonly incoming?: Pick<IncomingMessage, 'socket' | 'url'>;
}

type ApiContext = Context<{ Bindings: Bindings }>;
export type Api = Hono<{ Bindings: Bindings }>;

/** The whole API as a function of a request, without a port. */
export function createApi(host: ManagementHost, options: ApiOptions = {}): Api {
  const door = new Door(host, options);
  // Paths are taken as they came: a name may be `..` or hold any percent sign.
  const app: Api = new Hono({ getPath: (request, { env } = {}) => pathOf(request, (env as Bindings).incoming?.url) });
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(safeHeaders))
      if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  });
  for (const resource of [...allResources, ...(options.resources ?? [])]) {
    for (const path of [`/api${resource.path}`, `/api${resource.path}/`]) {
      app.all(path, (c) => door.enter(c, resource));
    }
  }
  app.notFound((c) => door.answer(c, notFound().answer));
  app.onError((error, c) => door.refuse(c, error));
  return app;
}

function pathOf(request: Request, raw: string | undefined): string {
  const url = raw ?? request.url.slice(request.url.indexOf('/', request.url.indexOf(':') + 3));
  return url.replace(/[?#].*$/s, '');
}

/** Where every request is asked who it is and where it comes from, in RabbitMQ's order. */
class Door {
  readonly #management: Management;
  readonly #host: ManagementHost;
  readonly #throttle: LoginThrottle;
  readonly #hosts: readonly string[];
  readonly #bodyLimit: number;

  constructor(host: ManagementHost, { hosts = [], bodyLimit = 20_000_000 }: ApiOptions) {
    this.#host = host;
    this.#management = new Management(host);
    this.#throttle = host.throttle ?? new LoginThrottle(host.now);
    this.#hosts = hosts;
    this.#bodyLimit = bodyLimit;
  }

  async enter(c: ApiContext, resource: Resource): Promise<Response> {
    const { method, raw, url } = c.req;
    const { headers } = raw;
    const hostHeader = headers.get('host') ?? new URL(url).host;
    if (!isKnownHost(hostHeader, this.#hosts)) throw foreignHost();
    if (isForeign(method, headers, hostHeader)) throw foreignPage();
    const allow = allowOf(resource);
    if (!knownMethods.includes(method)) return this.answer(c, { status: 501 });
    if (!allow.includes(method)) return this.answer(c, { status: 405, headers: { allow: allow.join(', ') } });
    if (method === 'OPTIONS') return this.answer(c, { status: 200, headers: { allow: allow.join(', ') } });
    const changes = method !== 'GET' && method !== 'HEAD';
    const handler = resource[method === 'HEAD' ? 'GET' : (method as 'GET')];
    if (handler === undefined) throw notFound();
    const peer = c.env?.incoming?.socket.remoteAddress ?? '127.0.0.1';
    const user = this.#login(headers.get('authorization'), peer);
    const notes: Record<string, unknown> = {};
    const request = this.#request(c, resource, user, peer, (details) => void Object.assign(notes, details));
    const act = async (): Promise<Response> => {
      checkAudience(user, changes ? (resource.allowsChange ?? resource.allows) : resource.allows);
      const { vhost } = request.names;
      if (vhost !== undefined && resource.anyVhost !== true)
        checkVhost(this.#management.broker, user, vhost, method, resource);
      if (changes && method !== 'DELETE' && !isAccepted(resource, headers)) return this.answer(c, { status: 415 });
      const answer = await handler(request, this.#management);
      return answer instanceof Response ? answer : this.answer(c, answer);
    };
    return changes ? this.#audited(request, resource, notes, act) : act();
  }

  /** Whatever changes something, or should have, is on record: who, what, where, and what it came to. */
  async #audited(
    { method, user, names, peer }: ApiRequest,
    { path }: Resource,
    details: Readonly<Record<string, unknown>>,
    act: () => Promise<Response>,
  ): Promise<Response> {
    const record = (status: number): void => {
      const entry = { user: user.name, from: peer, action: `${method} /api${path}`, names, status };
      this.#management.dlx.audit.record(Object.keys(details).length === 0 ? entry : { ...entry, details });
    };
    try {
      const response = await act();
      record(response.status);
      return response;
    } catch (error) {
      record(problemOf(error)?.status ?? 500);
      throw error;
    }
  }

  answer(c: ApiContext, { status, body, headers = {} }: Answer): Response {
    const all = new Headers(headers);
    if (status === 200) all.set('cache-control', 'no-cache');
    if (status === 201 || (status === 200 && body === undefined)) all.set('content-length', '0');
    if (body === undefined) return new Response(null, { status, headers: all });
    if (!all.has('content-type')) all.set('content-type', 'application/json');
    const text = JSON.stringify(body);
    if (c.req.method !== 'HEAD') return new Response(text, { status, headers: all });
    all.set('content-length', String(Buffer.byteLength(text)));
    return new Response(null, { status, headers: all });
  }

  refuse(c: ApiContext, error: unknown): Response {
    const problem = problemOf(error);
    if (problem !== undefined) return this.answer(c, problem.answer);
    this.#host.log?.(error);
    return this.answer(c, { status: 500, body: { error: 'internal_error', reason: 'Internal Server Error' } });
  }

  /** @throws Problem 401 */
  #login(authorization: string | null, peer: string): User {
    if (authorization === null) throw unknownUser();
    const login = basicCredentials(authorization);
    if (login === undefined) throw loginFailed();
    const { broker, authenticate = usersOf(broker.access) } = this.#host;
    const wait = this.#throttle.refusedFor(peer, login.user);
    if (wait > 0) throw tooMany(wait);
    const isHere = authenticate({ ...login, isLocal: isLoopback(peer) });
    this.#throttle.tried(peer, login.user, isHere);
    const user = isHere ? broker.access.user(login.user) : undefined;
    if (user === undefined) throw loginFailed();
    return user;
  }

  #request({ req }: ApiContext, resource: Resource, user: User, peer: string, note: ApiRequest['note']): ApiRequest {
    const bytes = (): Promise<Uint8Array> => readBody(req.raw, this.#bodyLimit);
    const text = async (): Promise<string> => Buffer.from(await bytes()).toString();
    const names = namesIn(`/api${resource.path}`, req.path);
    return {
      method: req.method,
      user,
      names,
      name: (of) => names[of] ?? '',
      query: new URL(req.url).searchParams,
      headers: req.raw.headers,
      peer,
      signal: req.raw.signal,
      note,
      bytes,
      text,
      body: async (...required) => jsonObject(await text(), required),
    };
  }
}

const knownMethods: readonly string[] = ['HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

function allowOf(resource: Resource): readonly string[] {
  const known = methodNames.filter((name) => resource[name] !== undefined);
  return [...(resource.GET === undefined ? [] : ['HEAD']), ...known, 'OPTIONS'];
}

const tooMany = (wait: number): Problem =>
  new Problem(429, 'too_many_requests', 'Too many failed logins', { 'retry-after': String(Math.ceil(wait / 1000)) });

function isAccepted({ accepts }: Resource, headers: Headers): boolean {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  return accepts === undefined || (type !== undefined && accepts.includes(type));
}
