import { jsonPieces } from './json.js';
import type { Answer } from './reply.js';
import { pieceSize, TextStream } from './text-stream.js';
import type { Turns } from './turns.js';

/** Writes an answer as JSON. A long list is made row by row, as its client reads it. */
export function responseOf({ status, body, headers = {} }: Answer, isHead: boolean, turns: Turns): Response {
  const all = new Headers(headers);
  if (status === 200) all.set('cache-control', 'no-cache');
  if (body === undefined && (status === 200 || status === 201)) all.set('content-length', '0');
  if (body === undefined) return new Response(null, { status, headers: all });
  if (!all.has('content-type')) all.set('content-type', 'application/json');
  const pieces = jsonPieces(body);
  let text = '';
  let isWhole = false;
  while (!isWhole && text.length < pieceSize) {
    const { done, value } = pieces.next();
    if (done === true) isWhole = true;
    else text += value;
  }
  if (!isWhole) {
    return new Response(isHead ? null : new TextStream({ work: behind(text, pieces), turns }).body, {
      status,
      headers: all,
    });
  }
  const bytes = Buffer.from(text);
  all.set('content-length', String(bytes.length));
  return new Response(isHead ? null : bytes, { status, headers: all });
}

function* behind(text: string, pieces: Iterable<string>): Generator<string, void, void> {
  yield text;
  yield* pieces;
}
