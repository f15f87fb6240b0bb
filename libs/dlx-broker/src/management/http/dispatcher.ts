import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import { checkAudience, checkVhost } from './auth.js';
import { jsonObject, readBody, valueIn } from './body.js';
import { checkMemory } from '../statistics/memory-check.js';
import { bodyLimitsFor, BodyMemory, type BodyShare } from './body-memory.js';
import type { ManagementHost } from '../host.js';
import type { Visit } from './http-connections.js';
import { inTurns } from './turns.js';
import { Login } from './login.js';
import { Management } from '../management.js';
import { namesIn } from '../api/names.js';
import { type Answer, notFound, Problem, problemOf } from './reply.js';
import { responseOf } from './response.js';
import type { JsonObject } from './json-object.js';
import { type ApiRequest, methodNames, type Resource } from './resource.js';

/** The bindings that the adapter to Node.js, or a test, passes to the API. */
export interface Bindings {
  readonly incoming?: Pick<IncomingMessage, 'socket' | 'url'>;
  /** The visit of the port; undefined if there is no port. */
  readonly visit?: Visit | undefined;
}

/** The most bytes of a body that is read during a memory alarm: requests of an operator are small. */
const smallBody = 65_536;

/** The limits of bodies and replies, in bytes. */
export interface DispatcherLimits {
  readonly bodyLimit: number;
  readonly replyLimit: number;
  /** True if messages may be edited. */
  readonly edits?: boolean;
}

/** The user of a request, its address, and its notes for the audit log. */
interface Caller extends Pick<ApiRequest, 'user' | 'peer' | 'note'> {
  readonly share: BodyShare;
}

export type ApiContext = Context<{ Bindings: Bindings }>;

/**
 * Checks what comes before a handler, in the order of RabbitMQ: method, login, tags, virtual host and type of the body.
 */
export class Dispatcher {
  readonly #host: ManagementHost;
  readonly #management: Management;
  readonly #login: Login;
  readonly #limits: DispatcherLimits;
  readonly #bodies: BodyMemory;

  constructor(host: ManagementHost, limits: DispatcherLimits) {
    this.#host = host;
    this.#management = new Management(host, limits.replyLimit, limits.edits);
    this.#login = new Login(host);
    this.#limits = limits;
    this.#bodies = new BodyMemory(bodyLimitsFor(limits.bodyLimit));
  }

  async enter(c: ApiContext, resource: Resource): Promise<Response> {
    const { method, raw } = c.req;
    const allow = allowOf(resource);
    if (!knownMethods.includes(method)) return this.answer(c, { status: 501 });
    if (!allow.includes(method)) return this.answer(c, { status: 405, headers: { allow: allow.join(', ') } });
    if (method === 'OPTIONS') return this.answer(c, { status: 200, headers: { allow: allow.join(', ') } });
    // A closed socket has no address. It must not count as one of this machine.
    const peer = c.env?.incoming?.socket.remoteAddress ?? 'unknown';
    const user = await this.#login.user(raw.headers, peer, raw.signal);
    c.env?.visit?.entered(user.name);
    const notes: Record<string, unknown> = {};
    const share = this.#bodies.share(user.name);
    const request = this.#request(c, resource, { user, peer, share, note: (more) => void Object.assign(notes, more) });
    const act = (): Promise<Response> => this.#inTurn(c, resource, request);
    try {
      return await (isChange(method) ? this.#audited(request, resource, notes, act) : act());
    } finally {
      share.end();
    }
  }

  /** Makes a reply when there is memory for it, so that clients that do not read their replies cannot fill the memory. */
  async #inTurn(c: ApiContext, resource: Resource, request: ApiRequest): Promise<Response> {
    const visit = c.env?.visit;
    if (visit === undefined || (isChange(request.method) && resource.readsMuch !== true)) {
      return this.#act(c, resource, request);
    }
    this.#checkRights(resource, request);
    // The body is read first, so that a slow client occupies no turn.
    const body = isChange(request.method) ? await request.bytes() : undefined;
    const made = await visit.turn(request.user.name, request.signal);
    try {
      const text = async (): Promise<string> => Buffer.from(body ?? []).toString();
      const bytes = async (): Promise<Uint8Array> => body ?? new Uint8Array();
      const json = async (...required: string[]) => this.#json(await text(), required, request.signal);
      const readBefore = { text, bytes, body: json };
      const response = await this.#act(c, resource, body === undefined ? request : { ...request, ...readBefore });
      visit.made(request.user.name, Number(response.headers.get('content-length') ?? 0));
      return response;
    } finally {
      made();
    }
  }

  async #act(c: ApiContext, resource: Resource, request: ApiRequest): Promise<Response> {
    const { method, headers } = request;
    this.#checkRights(resource, request);
    if (isChange(method) && method !== 'DELETE' && !isAccepted(resource, headers)) {
      return this.answer(c, { status: 415 });
    }
    const handler = resource[method === 'HEAD' ? 'GET' : (method as 'GET')];
    if (handler === undefined) throw notFound();
    const { sequence } = this.#host.broker;
    const answer = await handler(request, this.#management);
    if (isChange(method)) {
      await new Promise<void>((resolve) => this.#host.broker.whenPoliciesApply(resolve));
      await this.#stored(sequence);
    }
    return answer instanceof Response ? answer : this.answer(c, answer);
  }

  /** @throws Problem */
  #checkRights(resource: Resource, { method, user, names: { vhost } }: ApiRequest): void {
    const { allows, allowsChange = allows, anyVhost } = resource;
    checkAudience(user, isChange(method) ? allowsChange : allows);
    if (vhost !== undefined && anyVhost !== true) checkVhost(this.#management.broker, user, vhost, method, resource);
  }

  /** Waits until the journal has stored the changes of a request. */
  #stored(since: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const lost = (failure: Error): void => reject(new Problem(500, 'internal_error', failure.message));
      this.#host.broker.onStored(since, (failure) => (failure === undefined ? resolve() : lost(failure)));
    });
  }

  /** Records a request that changes the broker: user, action, names and status. */
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
      // A dry run changes nothing, and the console asks for one with each message that a user looks at.
      if (details['dry_run'] !== true || !response.ok) record(response.status);
      return response;
    } catch (error) {
      record(problemOf(error)?.status ?? 500);
      throw error;
    }
  }

  answer({ req }: ApiContext, answer: Answer): Promise<Response> {
    const { turns } = this.#management.dlx;
    const limit = this.#limits.replyLimit;
    return responseOf(answer, { isHead: req.method === 'HEAD', limit, turns, signal: req.raw.signal });
  }

  refuse(c: ApiContext, error: unknown): Response | Promise<Response> {
    const problem = problemOf(error);
    if (problem !== undefined) return this.answer(c, problem.answer);
    if (!c.req.raw.signal.aborted) this.#host.log?.(error); // the disconnect of a client is no error
    return this.answer(c, { status: 500, body: { error: 'internal_error', reason: 'Internal Server Error' } });
  }

  #request({ req }: ApiContext, resource: Resource, { user, peer, share, note }: Caller): ApiRequest {
    let kept = 0;
    const keep = (length: number): void => {
      share.keep(length);
      if ((kept += length) > smallBody) checkMemory(this.#host);
    };
    const bytes = (): Promise<Uint8Array> => readBody(req.raw, this.#limits.bodyLimit, keep);
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
      body: async (...required) => this.#json(await text(), required, req.raw.signal),
    };
  }

  async #json(text: string, required: readonly string[], signal: AbortSignal): Promise<JsonObject> {
    return jsonObject(await inTurns(valueIn(text), this.#management.dlx.turns, signal), required);
  }
}

export const knownMethods: readonly string[] = ['HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export const isChange = (method: string): boolean => method !== 'GET' && method !== 'HEAD';

function allowOf(resource: Pick<Resource, (typeof methodNames)[number]>): readonly string[] {
  const known = methodNames.filter((name) => resource[name] !== undefined);
  return [...(resource.GET === undefined ? [] : ['HEAD']), ...known, 'OPTIONS'];
}

function isAccepted({ accepts }: Resource, headers: Headers): boolean {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  return accepts === undefined || (type !== undefined && accepts.includes(type));
}
