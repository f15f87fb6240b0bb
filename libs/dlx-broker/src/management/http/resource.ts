import type { User } from '../../broker/index.js';
import type { Audience } from './auth.js';
import type { Management } from '../management.js';
import type { JsonObject } from './json-object.js';
import type { Answer } from './reply.js';

/** An authenticated request to an existing path, from a page that may send it. */
export interface ApiRequest {
  readonly method: string;
  /** Who asks. */
  readonly user: User;
  /** The parts of the path that the resource names with a colon, decoded: `names.vhost`. */
  readonly names: Readonly<Record<string, string>>;
  /** One of {@link names}. */
  name(of: string): string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** The address of the client. */
  readonly peer: string;
  /** Ends when the client goes. */
  readonly signal: AbortSignal;
  /** Says for the audit log what was meant and what it came to: filters, counts; no secrets, no contents. */
  note(details: Readonly<Record<string, unknown>>): void;
  /** The body as it came. @throws Problem 400 when it is too long */
  text(): Promise<string>;
  bytes(): Promise<Uint8Array>;
  /**
   * The body as a JSON object, empty when there is no body. Own keys only: `__proto__` is one like any other.
   * @param required keys that have to be there
   * @throws Problem 400 `not_json`, `[{key_missing,...}]`
   */
  body(...required: readonly string[]): Promise<JsonObject>;
}

/** Answers with data, or with a Response when it has to stream. */
export type Handler = (request: ApiRequest, management: Management) => Answer | Response | Promise<Answer | Response>;

/** One place of the API: its path below `/api`, who may come, and a handler for each method it knows. */
export interface Resource {
  /** `/queues/:vhost/:name`. By default the virtual host `:vhost` has to exist, and the user needs access to it. */
  readonly path: string;
  readonly allows: Audience;
  /** Who may PUT, POST and DELETE, if not the same. */
  readonly allowsChange?: Audience;
  /** Content types of a body. Default: any, as in RabbitMQ. */
  readonly accepts?: readonly string[];
  /** The virtual host may be missing or closed to the user: for administrators' own resources. */
  readonly anyVhost?: true;
  /** Users with the tags monitoring and administrator need no access to the virtual host. */
  readonly visibleVhost?: true;
  /** What changes something here answers with much, as a GET does. */
  readonly readsMuch?: true;
  /** HEAD comes with it. */
  readonly GET?: Handler;
  readonly PUT?: Handler;
  readonly POST?: Handler;
  readonly DELETE?: Handler;
}

export const methodNames = ['GET', 'PUT', 'POST', 'DELETE'] as const;
