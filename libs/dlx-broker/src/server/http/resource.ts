import type { User } from '../../engine/broker/index.js';
import type { Audience } from './auth.js';
import type { Management } from '../management.js';
import type { JsonObject } from './body.js';
import type { Answer } from './reply.js';

/** An authenticated request of an allowed origin to an existing path. */
export interface ApiRequest {
  readonly method: string;
  /** The user of the request. */
  readonly user: User;
  /** The decoded placeholders of the path: `names.vhost`. */
  readonly names: Readonly<Record<string, string>>;
  /** A value of {@link names}; empty if it is missing. */
  name(of: string): string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** The address of the client. */
  readonly peer: string;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** Adds details to the audit log, such as filters and counts; no secrets, no bodies. */
  note(details: Readonly<Record<string, unknown>>): void;
  /**
   * The body as text.
   * @throws Problem 400 above the limit
   */
  text(): Promise<string>;
  bytes(): Promise<Uint8Array>;
  /**
   * The body as a JSON object; empty if there is no body. It has no prototype, because a key may be `__proto__`.
   * @param required keys that must be present
   * @throws Problem 400 `not_json`, `[{key_missing,...}]`
   */
  body(...required: readonly string[]): Promise<JsonObject>;
}

/** Answers a request with data, or with a Response to stream. */
export type Handler = (request: ApiRequest, management: Management) => Answer | Response | Promise<Answer | Response>;

/** One path of the API, in general below `/api`: who may use it, and a handler for each of its methods. */
export interface Resource {
  /** `/queues/:vhost/:name`. By default the virtual host `:vhost` has to exist, and the user needs access to it. */
  readonly path: string;
  readonly allows: Audience;
  /** The path is not below `/api`. */
  readonly isOutsideApi?: true;
  /** The tag for PUT, POST and DELETE. Default: the same. */
  readonly allowsChange?: Audience;
  /** Content types of a body. Default: any, as in RabbitMQ. */
  readonly accepts?: readonly string[];
  /** The virtual host may be missing, or closed to the user: for resources of administrators. */
  readonly anyVhost?: true;
  /** Users with the tags monitoring and administrator need no access to the virtual host. */
  readonly visibleVhost?: true;
  /** The user and the password are in a form in the body, and not in a header. */
  readonly hasLoginForm?: true;
  /** Also handles HEAD. */
  readonly GET?: Handler;
  readonly PUT?: Handler;
  readonly POST?: Handler;
  readonly DELETE?: Handler;
}

export const methodNames = ['GET', 'PUT', 'POST', 'DELETE'] as const;
