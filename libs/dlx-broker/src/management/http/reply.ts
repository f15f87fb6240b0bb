import { AmqpError, PolicyError } from '../../broker/index.js';
import { FieldJsonError } from '../api/field-json.js';

/** What a handler answers. */
export interface Answer {
  readonly status: number;
  /** Anything JSON can say, with `Rows` in it for long lists, or a `WrittenJson`; undefined for an empty body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const created = (headers: Readonly<Record<string, string>> = {}): Answer => ({ status: 201, headers });
export const noContent: Answer = { status: 204 };
/** After a PUT: 201 for what is new, 204 for what was there. */
export const put = (result: 'created' | 'changed'): Answer => (result === 'created' ? created() : noContent);

/** An answer that is a refusal, in the shape RabbitMQ gives all of them. */
export class Problem extends Error {
  override readonly name = 'Problem';

  /**
   * @param reason a text, or the term that RabbitMQ shows instead of one
   * @param text for people, where the term alone says too little: the message, never the answer
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
    // Without a reason RabbitMQ sends no body either.
    const body = this.reason === undefined ? undefined : { error: this.error, reason: this.reason };
    return { status: this.status, body, headers: this.headers };
  }
}

export const notFound = (): Problem => new Problem(404, 'Object Not Found', 'Not Found');
export const noVhost = (): Problem => new Problem(404, 'not_found', 'vhost_not_found');
export const badRequest = (reason: unknown): Problem => new Problem(400, 'bad_request', reason);
/** No client reads it: it ends work whose client has gone. */
export const clientGone = (): Problem => badRequest('the client did not wait for the answer');
export const notAuthorised = (reason: string): Problem => new Problem(401, 'not_authorised', reason);

/**
 * Rule F13: errors of policies and parameters are escaped as HTML, because RabbitMQ's own pages show them unchanged.
 */
export const escapedRequest = (reason: string): Problem =>
  badRequest(reason.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'));

/** Erlang's text is a list of characters, and some of RabbitMQ's reasons show it as such. */
export const codes = (text: string): readonly number[] => Array.from(text, (char) => char.codePointAt(0) ?? 0);

/**
 * What an error of the core is over HTTP: here and nowhere else. RabbitMQ says 401 where a user may not, 404 for
 * what is not there, and 400 with the text of the error for everything else. @returns undefined for a fault of our own
 */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof PolicyError) return escapedRequest(error.message);
  if (error instanceof FieldJsonError) return badRequest(error.message);
  if (!(error instanceof AmqpError)) return undefined;
  if (error.reply === 'NOT_FOUND') return new Problem(404, 'not_found', detailOf(error));
  if (error.reply === 'ACCESS_REFUSED' || error.reply === 'NOT_ALLOWED') return notAuthorised('Access refused.');
  return badRequest(detailOf(error));
}

/** The text without the name of the code, as RabbitMQ shows what a declaration was refused for. */
export const detailOf = (error: AmqpError): string => error.message.slice(error.reply.length + ' - '.length);
/** With the number and the name, as RabbitMQ shows what a channel was closed for. */
export const channelErrorOf = (error: AmqpError): string => `${error.code} ${error.message}`;
