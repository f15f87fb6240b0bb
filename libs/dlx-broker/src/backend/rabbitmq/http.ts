import { DlxConfigurationError } from '../../options/index.js';
import { ServerError } from '../errors.js';

/** The address of a management API, and the login. */
export interface ApiPlace {
  /** `http://host:15672`, without a user. */
  readonly base: string;
  readonly user: string;
  readonly password: string;
}

/** The time limit of an answer, in milliseconds. */
const longest = 30_000;

/** Checks the URL of a management API. @throws DlxConfigurationError, which never shows a password */
export function placeOfApi(url: unknown, origin: string): void {
  const remedy = "write 'http://user:password@host:15672'";
  if (typeof url !== 'string') throw new DlxConfigurationError(`${origin} is of the type ${typeof url}; ${remedy}`);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new DlxConfigurationError(`${origin} is no URL of HTTP; ${remedy}`);
  }
}

/** Reads `http://user:password@host:15672`. Default: the login of the connection. */
export function placeIn(url: string, login: { readonly user: string; readonly password: string }): ApiPlace {
  const { origin, pathname, username, password } = new URL(url);
  const base = origin + pathname.replace(/\/+$/, '');
  if (username === '') return { base, ...login };
  return { base, user: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/**
 * Gets an object of the management API.
 * @param path behind `/api`
 * @returns undefined for 404
 * @throws ServerError that names the address and the status, never a password
 */
export const getJson = (place: ApiPlace, path: string): Promise<unknown> => callJson('GET', place, path);

/** The same with another method. */
export async function callJson(
  method: 'GET' | 'DELETE',
  { base, user, password }: ApiPlace,
  path: string,
): Promise<unknown> {
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  let answer: Response;
  try {
    answer = await fetch(`${base}/api${path}`, {
      method,
      headers: { authorization },
      signal: AbortSignal.timeout(longest),
    });
  } catch (error) {
    const { cause } = error as Error;
    const why = cause instanceof Error ? cause.message : (error as Error).message;
    throw new ServerError(`the management API at ${base} does not answer: ${why}`, 0, { cause: error });
  }
  if (answer.status === 404) return undefined;
  if (answer.ok) return answer.json();
  const hint = answer.status === 401 || answer.status === 403 ? `; the user '${user}' needs a tag for management` : '';
  throw new ServerError(
    `the management API at ${base} answers ${answer.status} to ${method} /api${path}${hint}`,
    answer.status,
  );
}
