import {
  callHttp,
  decodedReason,
  EndedCall,
  type HttpAnswer,
  type HttpApi,
  type HttpCall,
  notHttp,
  shownText,
} from '../../platform/index.js';
import { ConnectionLostError, ServerError } from '../errors.js';

/** The time limit of an answer, in milliseconds. */
const timeout = 30_000;

/**
 * Sends a request to a management API.
 * @param path the names behind `/api`
 * @param body sent as JSON
 * @returns the JSON of the answer; undefined for an empty one, and for a 404, unless something was to be put
 * @throws ServerError that names the address and the status, never a password; ConnectionLostError when the application ended the call
 */
export async function callManagement(
  api: HttpApi,
  method: HttpCall['method'],
  path: readonly string[],
  query?: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<unknown> {
  let answer: HttpAnswer;
  try {
    answer = await callHttp(api, { method, path: ['api', ...path], query: new URLSearchParams(query), body, timeout });
  } catch (error) {
    if (error instanceof EndedCall) throw new ConnectionLostError(error.message, true, { cause: error });
    const text = `the management API at ${api.base} does not answer: ${notHttp(error as NodeJS.ErrnoException) ?? (error as Error).message}`;
    throw new ServerError(text, 0, { cause: error });
  }
  const { status, text } = answer;
  const asked = `${method} /api/${path.map(encodeURIComponent).join('/')}`;
  if (status === 404 && method !== 'PUT') return undefined;
  if (status >= 200 && status < 300) return text === '' ? undefined : readAnswer(api, asked, () => JSON.parse(text));
  const reason = reasonIn(text);
  const because = reason === '' ? '' : `: ${reason}`;
  const hint = remedyFor(status, reason, api.user, neededFor(method, path));
  throw new ServerError(`the management API at ${api.base} answers ${status} to ${asked}${because}${hint}`, status);
}

/** Management APIs answer 401 to a wrong password, and also to a user without a tag, whom their reason names. */
function remedyFor(status: number, reason: string, user: string, needed: string): string {
  const lacksTag = /^(not \w+ user|user not authori)/i.test(reason);
  if (status === 403 || (status === 401 && lacksTag)) return `; the user '${user}' needs ${needed}`;
  if (status !== 401 || /localhost/i.test(reason)) return '';
  return `; the user '${user}' or its password is wrong: correct them in option 'management' of rabbitmq(), or in 'urls' if 'management' has none`;
}

function neededFor(method: HttpCall['method'], path: readonly string[]): string {
  if (path[0] === 'dlx' && path.at(-1) === 'pause') return 'a tag for management, and the right to configure the queue';
  return method === 'PUT' ? "the tag 'policymaker'" : 'a tag for management';
}

/**
 * Reads an answer of a management API.
 * @param asked what the answer is to, for the error
 * @param read throws for an answer of another form
 * @throws ServerError that shows nothing of the answer
 */
export function readAnswer<T>({ base }: HttpApi, asked: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new ServerError(`${base} is no management API: its answer to ${asked} has another form`, 0);
  }
}

/** @throws TypeError for what is no text */
export function textIn(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('no text');
  return value;
}

/** The longest reason of the API in an error, in characters. */
const longestReason = 200;

/** The `reason` of an error of the API, on one line; empty if it has none. */
function reasonIn(text: string): string {
  try {
    const { reason } = JSON.parse(text) as { readonly reason?: unknown };
    return typeof reason === 'string' ? shownText(oneLine(decodedReason(reason)), longestReason) : '';
  } catch {
    return '';
  }
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
