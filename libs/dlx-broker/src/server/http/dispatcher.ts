import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import type { ManagementHost } from '../host.js';
import { checkMemory, Management } from '../management.js';
import { checkAudience, checkVhost } from './auth.js';
import { jsonObject, readBody, valueIn } from './body.js';
import type { Visit } from './http-connections.js';
import { jsonPieces } from './json.js';
import { Login, withLoginForm } from './login.js';
import { type Answer, badRequest, notFound, Problem, problemOf } from './reply.js';
import { type ApiRequest, methodNames, type Resource } from './resource.js';
import { pieceSize, TextStream, type Turns } from './turns.js';

/** The parts of a path between its slashes, still encoded; a slash at the end is ignored. */
function partsOf(path: string): readonly string[] {
  const parts = path.split('/').slice(1);
  if (parts.length > 1 && parts.at(-1) === '') parts.pop();
  return parts;
}

/** `%2F` is the slash of a name. @throws Problem 400 when it is no UTF-8 */
function decodeName(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest('invalid percent-encoding in the path');
  }
}

/** The names in a path, by the placeholders of its resource: `/queues/:vhost/:name`. */
export function namesIn(template: string, path: string): Readonly<Record<string, string>> {
  const names: Record<string, string> = Object.create(null) as Record<string, string>;
  const parts = partsOf(path);
  for (const [index, name] of partsOf(template).entries()) {
    if (name.startsWith(':')) names[name.slice(1)] = decodeName(parts[index] ?? '');
  }
  return names;
}

/** The bindings that the adapter to Node.js, or a test, passes to the API. */
export interface Bindings {
  readonly incoming?: Pick<IncomingMessage, 'socket' | 'url'>;
  /** The visit of the port; undefined if there is no port. */
  readonly visit?: Visit | undefined;
}

/** The most bytes of a body that is read during a memory alarm: requests of an operator are small. */
const smallBody = 65_536;

/** What the options of the API limit. */
interface DispatcherLimits {
  /** The most bytes of a body. */
  readonly bodyLimit: number;
  /** True if messages may be edited. */
  readonly edits?: boolean;
}

/** The user of a request, its address, and its notes for the audit log. */
type Caller = Pick<ApiRequest, 'user' | 'peer' | 'note'>;

type ApiContext = Context<{ Bindings: Bindings }>;

/**
 * Checks what comes before a handler, in the order of RabbitMQ: method, login, tags, virtual host and type of the body.
 */
export class Dispatcher {
  readonly #host: ManagementHost;
  readonly #management: Management;
  readonly #login: Login;
  readonly #limits: DispatcherLimits;

  constructor(host: ManagementHost, limits: DispatcherLimits) {
    this.#host = host;
    this.#management = new Management(host, limits.edits);
    this.#login = new Login(host);
    this.#limits = limits;
  }

  async enter(c: ApiContext, resource: Resource): Promise<Response> {
    const { method, raw } = c.req;
    const allow = allowOf(resource);
    if (!knownMethods.includes(method)) return this.answer(c, { status: 501 });
    if (!allow.includes(method)) return this.answer(c, { status: 405, headers: { allow: allow.join(', ') } });
    if (method === 'OPTIONS') return this.answer(c, { status: 200, headers: { allow: allow.join(', ') } });
    // A closed socket has no address. It must not count as one of this machine.
    const peer = c.env?.incoming?.socket.remoteAddress ?? 'unknown';
    const headers = resource.hasLoginForm === true ? await withLoginForm(raw) : raw.headers;
    const user = await this.#login.user(headers, peer, raw.signal);
    c.env?.visit?.entered(user.name);
    const notes: Record<string, unknown> = {};
    const request = this.#request(c, resource, { user, peer, note: (more) => void Object.assign(notes, more) });
    const act = (): Promise<Response> => this.#act(c, resource, request);
    return isChange(method) ? this.#audited(request, resource, notes, act) : act();
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

  answer({ req }: ApiContext, answer: Answer): Response {
    return responseOf(answer, req.method === 'HEAD', this.#management.dlx.turns);
  }

  refuse(c: ApiContext, error: unknown): Response {
    const problem = problemOf(error);
    if (problem !== undefined) return this.answer(c, problem.answer);
    if (!c.req.raw.signal.aborted) this.#host.log?.(error); // the disconnect of a client is no error
    return this.answer(c, { status: 500, body: { error: 'internal_error', reason: 'Internal Server Error' } });
  }

  #request({ req }: ApiContext, resource: Resource, { user, peer, note }: Caller): ApiRequest {
    let kept = 0;
    const keep = (length: number): void => {
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
      body: async (...required) => jsonObject(valueIn(await text()), required),
    };
  }
}

const knownMethods: readonly string[] = ['HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const isChange = (method: string): boolean => method !== 'GET' && method !== 'HEAD';

function allowOf(resource: Pick<Resource, (typeof methodNames)[number]>): readonly string[] {
  const known = methodNames.filter((name) => resource[name] !== undefined);
  return [...(resource.GET === undefined ? [] : ['HEAD']), ...known, 'OPTIONS'];
}

function isAccepted({ accepts }: Resource, headers: Headers): boolean {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  return accepts === undefined || (type !== undefined && accepts.includes(type));
}

/** Writes an answer as JSON. A long list is made row by row, as its client reads it. */
function responseOf({ status, body, headers = {} }: Answer, isHead: boolean, turns: Turns): Response {
  const all = new Headers(headers);
  if (status === 200) all.set('cache-control', 'no-cache');
  if (body === undefined && (status === 200 || status === 201)) all.set('content-length', '0');
  if (body === undefined) return new Response(null, { status, headers: all });
  if (!all.has('content-type')) all.set('content-type', 'application/json');
  const pieces = jsonPieces(body);
  let text = '';
  let isWhole = false;
  while (!isWhole && text.length < pieceSize) {
    const { done, value } = pieces.next();
    if (done === true) isWhole = true;
    else text += value;
  }
  if (!isWhole) {
    return new Response(isHead ? null : new TextStream({ work: behind(text, pieces), turns }).body, {
      status,
      headers: all,
    });
  }
  const bytes = Buffer.from(text);
  all.set('content-length', String(bytes.length));
  return new Response(isHead ? null : bytes, { status, headers: all });
}

function* behind(text: string, pieces: Iterable<string>): Generator<string, void, void> {
  yield text;
  yield* pieces;
}
