import { session, signOut } from '../session';

/** A request that the server refused, or that did not reach it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    /** The HTTP status; 0 if there was no answer. */
    readonly status: number,
    message: string,
    /** The name of the error in the answer, such as `not_found`. */
    readonly code: string,
  ) {
    super(message);
  }

  /** True if the user may not do this. RabbitMQ answers 401 for a missing right, too. */
  get isForbidden(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** The error of a failed call, whatever was thrown. */
export const apiErrorOf = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(0, String(error), 'internal');

/** The parts of a request. */
export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly query?: URLSearchParams | Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** Instead of the session's; the login form uses it. */
  readonly authorization?: string;
}

/** The path of names below `api/`: each segment is percent-encoded, so a virtual host `/` becomes `%2F`. */
export const pathOf = (...segments: readonly string[]): string => segments.map(encodeURIComponent).join('/');

/** Sends a request and returns the response whatever its status. @throws ApiError if there is no answer */
export async function send(path: string, call: Call = {}): Promise<Response> {
  const { method = 'GET', query, body, signal } = call;
  const url = new URL(`api/${path}`, new URL('.', document.baseURI));
  if (query instanceof URLSearchParams) url.search = query.toString();
  else {
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
    }
  }
  const authorization = call.authorization ?? session.value?.authorization;
  const headers = new Headers({ 'x-requested-with': 'dlx-console' });
  if (authorization !== undefined) headers.set('authorization', authorization);
  if (body !== undefined) headers.set('content-type', 'application/json');
  try {
    return await fetch(url, {
      method,
      headers,
      signal: signal ?? null,
      body: body === undefined ? null : JSON.stringify(body),
      // The browser must not add a password that it stored, nor follow the answer to another server.
      credentials: 'omit',
      redirect: 'error',
      cache: 'no-store',
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError(0, 'The broker does not answer.', 'unreachable');
  }
}

/** Sends a request. @returns the JSON of the answer. @throws ApiError for any status but 2xx */
export async function request<T>(path: string, call: Call = {}): Promise<T> {
  const response = await send(path, call);
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T;
  throw await refusal(response, call);
}

/** The error of a response that is not 2xx. Ends the session if the server does not know its user any more. */
export async function refusal(response: Response, call: Call = {}): Promise<ApiError> {
  const { error, reason } = await details(response);
  if (response.status === 401 && reason === 'Login failed' && call.authorization === undefined) {
    signOut('The broker no longer accepts this user and password.');
  }
  return new ApiError(response.status, reason ?? error ?? `HTTP ${response.status}`, error ?? '');
}

async function details(response: Response): Promise<{ error: string | undefined; reason: string | undefined }> {
  try {
    const { error, reason } = (await response.json()) as Record<string, unknown>;
    return { error: text(error), reason: text(reason) };
  } catch {
    return { error: undefined, reason: undefined };
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
