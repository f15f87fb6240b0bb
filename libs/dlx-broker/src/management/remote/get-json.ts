import { shownText } from '../../host/index.js';
import { Problem } from '../http/reply.js';
import type { Caller } from './caller.js';
import type { RemoteServer } from './remote-server.js';
import { foreignServer, unreachable } from './unreachable.js';

/** The most bytes of one answer of the server. */
const mostBytes = 128 * 1024 * 1024;

/** The milliseconds until an answer must be there. A server could send it byte by byte, and never pause for long. */
const within = 60_000;

/** An answer, read. */
export interface ReadAnswer {
  readonly status: number;
  /** Undefined for an empty body. */
  readonly body: unknown;
}

/** RabbitMQ says that it does not have a path only to clients that accept any form: to others it answers 406, without a reason. */
const accept = 'application/json, */*;q=0.1';

/** Headers of a request in the name of a user. A server that lets some users in locally only has to know the client. */
export const headersFor = ({ authorization, isLocal, peer }: Pick<Caller, 'authorization' | 'isLocal' | 'peer'>) => ({
  ...(authorization !== '' && { authorization }),
  accept,
  'x-requested-with': 'dlx-console',
  ...(!isLocal && { 'x-forwarded-for': peer }),
});

/**
 * Asks the server in the name of a user.
 * @param path the names behind `/api`, not encoded yet
 * @throws Problem 502 or 504 when the server does not answer, or does not answer with JSON
 */
export async function ask(
  server: RemoteServer,
  caller: Pick<Caller, 'authorization' | 'isLocal' | 'peer'>,
  path: readonly string[],
  query: Readonly<Record<string, string>> = {},
): Promise<ReadAnswer> {
  const search = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query)}`;
  const target = `/api/${path.map(encodeURIComponent).join('/')}`;
  let status: number;
  let text: string;
  try {
    const answer = await server.send({ method: 'GET', path: target + search, headers: headersFor(caller), within });
    ({ status } = answer);
    text = await textOf(answer.body);
  } catch (error) {
    throw error instanceof Problem ? error : unreachable(server.base, error);
  }
  try {
    return { status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  } catch {
    throw foreignServer(server.base, `GET ${target}`);
  }
}

/**
 * As {@link ask}, for an answer that the user may have.
 * @throws Problem with the status of the server when it refuses the request
 */
export async function getJson(...asked: Parameters<typeof ask>): Promise<unknown> {
  const [, , path] = asked;
  const { status, body } = await ask(...asked);
  if (status === 200) return body;
  throw refusal(path, status, body);
}

/** The refusal of the server as a refusal of this port. */
export function refusal(path: readonly string[], status: number, body: unknown): Problem {
  const { error, reason } = (body ?? {}) as { readonly error?: unknown; readonly reason?: unknown };
  const said = typeof reason === 'string' ? shownText(reason, 300) : `status ${status}`;
  const code = typeof error === 'string' ? shownText(error, 100) : 'server_refused';
  // A status of a redirect or of success without its content would be misread by the client.
  if (status >= 400 && status < 500) return new Problem(status, code, said);
  return new Problem(502, 'server_refused', `The server answers ${status} to GET /api/${path.join('/')}: ${said}`);
}

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > mostBytes)
      throw new Problem(502, 'server_refused', `An answer of the server is longer than ${mostBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts, bytes).toString();
}
