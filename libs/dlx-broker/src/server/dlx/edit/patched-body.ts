import { isUtf8 } from 'node:buffer';
import { deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import type { NotEdited } from '../../redrive/index.js';
import { afterSpace } from './json-members.js';
import { type MergePatch, mergedText } from './merge-patch.js';

/** The most bytes of a body that is patched, decompressed: it is parsed within one turn. */
const mostPatched = 524_288;

/** How bodies of a content encoding are read and written. */
interface Coding {
  readonly undo: (body: Uint8Array) => Uint8Array;
  readonly redo: (body: Uint8Array) => Uint8Array;
}

const limit = { maxOutputLength: mostPatched };
const plain: Coding = { undo: (body) => body, redo: (body) => body };
const gzip: Coding = { undo: (body) => gunzipSync(body, limit), redo: (body) => gzipSync(body) };
const deflate: Coding = { undo: (body) => inflateSync(body, limit), redo: (body) => deflateSync(body) };

/** Content encodings in lower case. Many clients write the character set here. */
const codings: ReadonlyMap<string, Coding> = new Map([
  ['', plain],
  ['identity', plain],
  ['utf-8', plain],
  ['utf8', plain],
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', deflate],
]);

const byteOrderMark = '\ufeff';

/**
 * Merges a patch into a body of JSON, which may be compressed by gzip or deflate.
 * @returns the same bytes if the patch changes nothing; the reason why the body cannot be patched
 */
export function patchedBody(
  body: Uint8Array,
  { contentEncoding = '' }: { readonly contentEncoding?: string | undefined },
  patch: MergePatch,
): Uint8Array | NotEdited {
  const coding = codings.get(contentEncoding.trim().toLowerCase());
  if (coding === undefined) return 'undecodable';
  if (body.length > mostPatched) return 'too_large';
  let bytes: Uint8Array;
  try {
    bytes = coding.undo(body);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'undecodable';
  }
  if (!isUtf8(bytes)) return 'undecodable';
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  const start = text.startsWith(byteOrderMark) ? 1 : 0;
  const at = afterSpace(text, start);
  if (text[at] !== '{' || !isJson(text.slice(start))) return 'undecodable';
  const end = text.lastIndexOf('}') + 1;
  const merged = mergedText(text, patch, at);
  if (merged.length === end - at && merged === text.slice(at, end)) return body;
  return coding.redo(Buffer.from(text.slice(0, at) + merged + text.slice(end)));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
