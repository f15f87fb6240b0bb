import { WrittenJson, writtenJson } from './json.js';
import type { Answer } from './reply.js';
import { streamOf } from './stream-of.js';
import { inTurns, type Turns } from './turns.js';

/** How an answer is written. */
export interface Writing {
  /** True: only the headers are sent. */
  readonly isHead: boolean;
  /** The most bytes of a body. */
  readonly limit: number;
  readonly turns: Turns;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/**
 * Writes an answer as JSON, in turns.
 * @throws Problem 413 for a body above the limit
 */
export async function responseOf({ status, body, headers = {} }: Answer, writing: Writing): Promise<Response> {
  const all = new Headers(headers);
  if (status === 200) all.set('cache-control', 'no-cache');
  if (body === undefined && (status === 200 || status === 201)) all.set('content-length', '0');
  if (body === undefined) return new Response(null, { status, headers: all });
  if (!all.has('content-type')) all.set('content-type', 'application/json');
  const { isHead, limit, turns, signal } = writing;
  const { pieces, bytes } = body instanceof WrittenJson ? body : await inTurns(writtenJson(body, limit), turns, signal);
  all.set('content-length', String(bytes));
  if (!isHead && pieces.length === 1) return new Response(pieces[0], { status, headers: all });
  return new Response(isHead ? null : streamOf(pieces), { status, headers: all });
}
