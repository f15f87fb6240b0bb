import { Problem } from '../http/reply.js';
import type { Caller } from './caller.js';
import { headersFor } from './get-json.js';
import type { RemoteServer } from './remote-server.js';
import { unreachable } from './unreachable.js';

/** A request to pass on. */
export interface Passed {
  readonly method: string;
  /** The parts behind `/api`, decoded. */
  readonly parts: readonly string[];
  /** The query with its question mark; empty without one. */
  readonly search: string;
  readonly body: Uint8Array | undefined;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

/** Headers of a request that the server gets, besides its credentials. */
const passedOn = ['content-type', 'accept'];

/** Headers of an answer that the client gets. */
const passedBack = ['content-type', 'content-length', 'cache-control'];

/**
 * Sends a request to the server in the name of its user, and its answer back as it comes. A redirect is no answer, because it
 * could lead to another server.
 * @throws Problem 502 or 504 when the server does not answer
 */
export async function relay(server: RemoteServer, caller: Caller, passed: Passed): Promise<Response> {
  const { method, parts, search, body, headers: given, signal } = passed;
  const headers: Record<string, string> = { ...headersFor(caller) };
  for (const name of passedOn) {
    const value = given.get(name);
    if (value !== null) headers[name] = value;
  }
  const path = `/api/${parts.map(encodeURIComponent).join('/')}${search}`;
  const answer = await server.send({ method, path, headers, body, signal }).catch((error: unknown) => {
    throw unreachable(server.base, error);
  });
  if (answer.status >= 300 && answer.status < 400 && answer.status !== 304) {
    await answer.body.cancel();
    throw new Problem(
      502,
      'server_refused',
      `The management API at ${server.base} redirects to another address, which is not followed`,
    );
  }
  const kept = new Headers();
  for (const name of passedBack) {
    const value = answer.headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  const isEmpty = method === 'HEAD' || answer.status === 204 || answer.status === 304;
  if (isEmpty) await answer.body.cancel();
  return new Response(isEmpty ? null : answer.body, { status: answer.status, headers: kept });
}
