import { AmqpError, PatternError, PolicyError } from '../../engine/broker/index.js';
import { cutText } from '../../platform/index.js';

/** The answer of a handler. */
export interface Answer {
  readonly status: number;
  /** A JSON value with `Rows` for long lists, or a `JsonText`; undefined for an empty body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const created = (headers: Readonly<Record<string, string>> = {}): Answer => ({ status: 201, headers });
export const noContent: Answer = { status: 204 };
/** The answer to a PUT: 201 for a new object, 204 for one that existed. */
export const put = (result: 'created' | 'changed'): Answer => (result === 'created' ? created() : noContent);

/** The most characters of a reason. */
const longestReason = 4_096;

/** A reason may quote the request, which may have 20 MB: such a reply would wait in memory for a client that does not read. */
function shortReason(reason: unknown): unknown {
  if (typeof reason === 'string') return cutText(reason, longestReason);
  const json = JSON.stringify(reason) ?? '';
  return json.length > longestReason ? cutText(json, longestReason) : reason;
}

/** A refusal, in the form of RabbitMQ. */
export class Problem extends Error {
  override readonly name = 'Problem';

  /**
   * @param reason a string, or the Erlang term that RabbitMQ shows
   * @param text the message of the error, for the log and the command line, if the term says too little
   */
  constructor(
    readonly status: number,
    readonly error: string,
    readonly reason: unknown,
    readonly headers: Readonly<Record<string, string>> = {},
    text?: string,
  ) {
    super(text ?? `${error}: ${typeof reason === 'string' ? reason.trim() : JSON.stringify(reason)}`);
  }

  get answer(): Answer {
    // As in RabbitMQ, a refusal without a reason has no body.
    const body = this.reason === undefined ? undefined : { error: this.error, reason: shortReason(this.reason) };
    return { status: this.status, body, headers: this.headers };
  }
}

export const notFound = (): Problem => new Problem(404, 'Object Not Found', 'Not Found');
export const noVhost = (): Problem => new Problem(404, 'not_found', 'vhost_not_found');
/** @param text see {@link Problem} */
export const badRequest = (reason: unknown, text?: string): Problem =>
  new Problem(400, 'bad_request', reason, {}, text);
/** Ends work whose client has gone. The answer is not sent. */
export const clientGone = (): Problem => badRequest('the client did not wait for the answer');
export const notAuthorised = (reason: string): Problem => new Problem(401, 'not_authorised', reason);

/** Errors of policies and parameters are escaped as HTML (rule F13), because pages of RabbitMQ show them unescaped. */
export const escapedRequest = (reason: string): Problem =>
  badRequest(reason.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'));

/** A string as the list of its character codes, which some reasons of RabbitMQ show. */
export const codes = (text: string): readonly number[] => Array.from(text, (char) => char.codePointAt(0) ?? 0);

/** A JSON value that has no place in a field table; the message is RabbitMQ's reason (rule U1). */
export class FieldJsonError extends Error {
  override readonly name = 'FieldJsonError';
}

/**
 * The HTTP status of an error of the core. As in RabbitMQ: 401 without a right, 404 for a missing object, otherwise 400
 * with the text of the error.
 * @returns undefined for an internal error
 */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof PolicyError) return escapedRequest(error.message);
  if (error instanceof PatternError) return badRequest(error.message);
  if (error instanceof FieldJsonError) return badRequest(error.message);
  if (!(error instanceof AmqpError)) return undefined;
  if (error.reply === 'NOT_FOUND') return new Problem(404, 'not_found', detailOf(error));
  if (error.reply === 'ACCESS_REFUSED' || error.reply === 'NOT_ALLOWED') return notAuthorised('Access refused.');
  return badRequest(detailOf(error));
}

/** The text of an error without its code, as RabbitMQ shows refused declarations. */
export const detailOf = (error: AmqpError): string => error.message.slice(error.reply.length + ' - '.length);
/** The text of an error with its code, as RabbitMQ shows the reason of a closed channel. */
export const channelErrorOf = (error: AmqpError): string => `${error.code} ${error.message}`;
