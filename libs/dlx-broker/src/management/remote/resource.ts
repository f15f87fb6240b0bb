import type { JsonObject } from '../http/json-object.js';
import type { Answer } from '../http/reply.js';
import type { Caller } from './caller.js';
import type { Remote } from './remote.js';

/** A request about a server that has no paths of dlx-broker itself. */
export interface RemoteRequest {
  readonly caller: Caller;
  /** The decoded placeholders of the path. */
  readonly names: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** Adds details to the audit log; no secrets. */
  note(details: Readonly<Record<string, unknown>>): void;
  /** The body as a JSON object. @throws Problem 400 */
  body(...required: readonly string[]): Promise<JsonObject>;
}

export type RemoteHandler = (request: RemoteRequest, remote: Remote) => Answer | Promise<Answer>;

/** One path below `/api`, with a handler for each of its methods. */
export interface RemoteResource {
  readonly path: string;
  /** Also handles HEAD. */
  readonly GET?: RemoteHandler;
  readonly PUT?: RemoteHandler;
  readonly POST?: RemoteHandler;
  readonly DELETE?: RemoteHandler;
}
