import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { product } from '../../engine/broker/index.js';
import { notFound } from '../http/reply.js';

/** The content types of the console's files, by extension. */
const types: ReadonlyMap<string, string> = new Map([
  ['html', 'text/html; charset=utf-8'],
  ['js', 'text/javascript; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
  ['json', 'application/json'],
  ['svg', 'image/svg+xml'],
  ['txt', 'text/plain; charset=utf-8'],
  ['png', 'image/png'],
  ['ico', 'image/x-icon'],
  ['woff2', 'font/woff2'],
]);

/** Compressed formats, which gzip does not make smaller. */
const compressed: readonly string[] = ['png', 'ico', 'woff2'];

/** The fewest bytes for which gzip is worth its header. */
const leastForGzip = 1_024;

const gzipped = promisify(gzip);

/** One file of the console, in memory. */
class ConsoleFile {
  readonly type: string;
  /** Of the content. It is weak, because the compressed bytes have the same one. */
  readonly etag: string;
  readonly #isCompressible: boolean;
  #gzip: Promise<Uint8Array> | undefined;

  /** @param name the name with its extension */
  constructor(
    name: string,
    readonly bytes: Uint8Array,
  ) {
    const extension = name.slice(name.lastIndexOf('.') + 1);
    this.type = types.get(extension) ?? 'application/octet-stream';
    this.etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
    this.#isCompressible = !compressed.includes(extension) && bytes.length >= leastForGzip;
  }

  /** The compressed bytes, made at the first call; undefined if the file is not compressed. */
  get gzip(): Promise<Uint8Array> | undefined {
    if (this.#isCompressible) this.#gzip ??= gzipped(this.bytes, { level: 9 });
    return this.#gzip;
  }
}

/** The page of the console among its files. */
const index = 'index.html';

/** The files of the console by the paths of their URLs. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/**
 * Reads all files of the built console into memory. A request can only name one of these paths, so no request reads
 * another file. The page has the path `/`; every other file has its path below the folder.
 * @returns no files if the console was not built
 */
export function consoleFiles(directory = consoleDirectory()): ConsoleFiles {
  const files = new Map<string, ConsoleFile>();
  for (const name of directory === undefined ? [] : namesIn(directory)) {
    const path = name === index ? '/' : `/${name.split(sep).map(encodeURIComponent).join('/')}`;
    files.set(path, new ConsoleFile(name, readFileSync(join(directory as string, name))));
  }
  return files.has('/') ? files : new Map<string, ConsoleFile>();
}

/** The names of the files of a folder and of the folders in it; none if there is no such folder. */
function namesIn(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}

/**
 * The folder of the built console. The bundle has another depth than the sources, so the folder is found by the
 * `package.json` of this package.
 * @param from the path of a file of this package
 * @returns undefined outside the package, for example when an application is one file
 */
export function consoleDirectory(from = fileURLToPath(import.meta.url)): string | undefined {
  for (let [folder, last] = [dirname(from), from]; folder !== last; [folder, last] = [dirname(folder), folder]) {
    if (packageName(folder) === product.name) return join(folder, 'dist', 'console');
  }
  return undefined;
}

/** The name in the `package.json` of a folder; undefined if there is none. */
function packageName(folder: string): unknown {
  try {
    return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: unknown }).name;
  } catch {
    return undefined;
  }
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
