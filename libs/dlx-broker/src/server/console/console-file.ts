import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

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
export class ConsoleFile {
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
