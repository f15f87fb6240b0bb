import { notFound } from '../http/reply.js';
import type { ConsoleFile } from './console-file.js';
import type { ConsoleFiles } from './console-files.js';

/**
 * The policy of the console's page: scripts, styles and requests of this server only, and no inline script. The API has
 * a policy of its own that allows nothing.
 */
export const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Where all files but the page are. Their names have a hash of their content, so the content of a name never changes. */
const hashed = '/console/';

const missing = `The console is not built. Run 'npm run build' in the workspace of dlx-broker, or install its package.
The HTTP API is at /api.
`;

/**
 * Answers requests for the console's files. They need no login, because they are the same for every user.
 * @param path the path of the request as it was sent
 * @throws Problem 404 for a path without a file
 */
export async function answerConsole(
  files: ConsoleFiles,
  { method, headers }: Request,
  path: string,
): Promise<Response> {
  if (method !== 'GET' && method !== 'HEAD')
    return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } });
  const file = files.get(path);
  if (file === undefined && path === '/') return text(method, missing, 404);
  if (file === undefined) throw notFound();
  const shared = {
    'cache-control': path.startsWith(hashed) ? 'max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': consolePolicy, // also of a 304, because browsers then replace the stored headers
    etag: file.etag,
    vary: 'accept-encoding',
  };
  if (isKnown(headers.get('if-none-match'), file)) return new Response(null, { status: 304, headers: shared });
  const gzip = acceptsGzip(headers.get('accept-encoding') ?? '') ? await file.gzip : undefined;
  const bytes = gzip ?? file.bytes;
  const described = { ...shared, 'content-type': file.type, 'content-length': String(bytes.length) };
  const all = gzip === undefined ? described : { ...described, 'content-encoding': 'gzip' };
  return new Response(method === 'HEAD' ? null : bytes, { status: 200, headers: all });
}

function text(method: string, said: string, status: number): Response {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'content-length': String(Buffer.byteLength(said)) };
  return new Response(method === 'HEAD' ? null : said, { status, headers });
}

/** True if the client has this content already: a strong and a weak tag of the same content are equal. */
function isKnown(tags: string | null, { etag }: ConsoleFile): boolean {
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, '');
  return tags !== null && tags.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag));
}

/** True if the header `accept-encoding` names gzip with a weight above 0. */
function acceptsGzip(accepted: string): boolean {
  return accepted.split(',').some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return name === 'gzip' && (weight === undefined || Number(weight) > 0);
  });
}
