import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { notFound } from '../http/reply.js';

/** The content types of the console's files, by extension. */
const types: ReadonlyMap<string, string> = new Map([
  ['html', 'text/html; charset=utf-8'],
  ['js', 'text/javascript; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
  ['svg', 'image/svg+xml'],
  ['txt', 'text/plain; charset=utf-8'],
]);

/** The fewest bytes for which gzip is worth its header. */
const leastForGzip = 1_024;

const gzipped = promisify(gzip);

/** One file of the console, in memory. */
class ConsoleFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Of the content. It is weak, because the compressed bytes have the same one. */
  readonly etag: string;
  #gzip: Promise<Uint8Array> | undefined;

  /** @param name the name with its extension */
  constructor(name: string, text: string) {
    this.type = types.get(name.slice(name.lastIndexOf('.') + 1)) ?? 'application/octet-stream';
    this.bytes = Buffer.from(text);
    this.etag = `W/"${createHash('sha256').update(this.bytes).digest('base64url').slice(0, 22)}"`;
  }

  /** The compressed bytes, made at the first call; undefined if the file is not compressed. */
  get gzip(): Promise<Uint8Array> | undefined {
    if (this.bytes.length >= leastForGzip) this.#gzip ??= gzipped(this.bytes, { level: 9 });
    return this.#gzip;
  }
}

/** The page of the console among its files. */
const index = 'index.html';

/** The files of the console by the paths of their URLs. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** The texts of the built console, by their paths below its folder. */
export type BuiltConsole = Readonly<Record<string, string>>;

/**
 * Reads the module that the build of the console writes. It is a module, so that an application in one file has it too.
 * @returns no files if the console was not built
 */
export async function builtConsole(): Promise<BuiltConsole> {
  try {
    // @ts-expect-error it has no declarations, and is there after a build
    const module = (await import('../../../dist/console.cjs')) as { readonly files: BuiltConsole };
    return module.files;
  } catch (error) {
    if (/(MODULE|ERR_LOAD)/.test(String((error as NodeJS.ErrnoException).code))) return {};
    throw error;
  }
}

/**
 * A request can only name one of these paths. The page has the path `/`; every other file has its path below the folder.
 * @returns no files if there is no page
 */
export function consoleFiles(built: BuiltConsole): ConsoleFiles {
  const paths = Object.entries(built).map(([name, text]) => [name === index ? '/' : `/${name}`, name, text] as const);
  const files = new Map(paths.map(([path, name, text]) => [path, new ConsoleFile(name, text)]));
  return files.has('/') ? files : new Map<string, ConsoleFile>();
}

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
