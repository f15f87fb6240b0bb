import { callHttp, type HttpAnswer, type HttpApi, type HttpCall } from '../../host/index.js';
import { ServerError } from '../errors.js';

/** The time limit of an answer, in milliseconds. */
const timeout = 30_000;

/**
 * Sends a request to a management API.
 * @param path the names behind `/api`
 * @returns the JSON of the answer; undefined for 404
 * @throws ServerError that names the address and the status, never a password
 */
export async function callManagement(
  api: HttpApi,
  method: HttpCall['method'],
  path: readonly string[],
  query?: Readonly<Record<string, string>>,
): Promise<unknown> {
  let answer: HttpAnswer;
  try {
    answer = await callHttp(api, { method, path: ['api', ...path], query: new URLSearchParams(query), timeout });
  } catch (error) {
    const text = `the management API at ${api.base} does not answer: ${(error as Error).message}`;
    throw new ServerError(text, 0, { cause: error });
  }
  const { status, text } = answer;
  if (status === 404) return undefined;
  if (status >= 200 && status < 300) return JSON.parse(text);
  const hint = status === 401 || status === 403 ? `; the user '${api.user}' needs a tag for management` : '';
  const asked = `${method} /api/${path.map(encodeURIComponent).join('/')}`;
  throw new ServerError(`the management API at ${api.base} answers ${status} to ${asked}${hint}`, status);
}
