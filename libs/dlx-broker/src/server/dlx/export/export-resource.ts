import type { Handler, Resource } from '../../http/resource.js';
import { badRequest } from '../../http/reply.js';
import { matcherOf } from '../filter.js';
import { filterInQuery, filterNames, idsInQuery, numberIn, onlyKnown, wordIn } from '../input.js';
import { readableQueue } from '../readable-queue.js';
import { linesOf } from './lines.js';
import { TextStream } from '../../http/text-stream.js';

const parameters = [...Object.keys(filterNames), 'header', 'ids', 'limit', 'encoding'];

/** The largest limit: more messages than any queue holds. */
const mostMessages = 999_999_999_999;

const headers = {
  'content-type': 'application/x-ndjson',
  'content-disposition': 'attachment; filename="messages.ndjson"',
  'cache-control': 'no-store',
};

/** The messages that match a filter, or have certain ids, one on each line. Reading delivers, counts and flags nothing. */
const exportAll: Handler = (request, management) => {
  const { query, signal } = request;
  onlyKnown(query.keys(), parameters, 'parameter');
  const queue = readableQueue(request, management);
  const positions = idsInQuery(query);
  const matches = matcherOf(filterInQuery(query));
  if (positions !== undefined && matches !== undefined) throw badRequest("'ids' and a filter exclude each other");
  const limit = numberIn(query, 'limit', mostMessages, 1, mostMessages);
  const encoding = wordIn(query, 'encoding', ['auto', 'base64'], 'auto');
  if (request.method === 'HEAD') return new Response(null, { headers });
  const stream = new TextStream({
    work: linesOf({ queue, matches, positions, limit, encoding, now: () => management.now() }),
    turns: management.dlx.turns,
    check: () => void readableQueue(request, management),
  });
  signal.addEventListener('abort', () => stream.close());
  if (signal.aborted) stream.close();
  return new Response(stream.body, { headers });
};

export const exports: readonly Resource[] = [
  { path: '/dlx/queues/:vhost/:name/export', allows: 'management', GET: exportAll },
  { path: '/dlx/queues/:vhost/:name/messages.ndjson', allows: 'management', GET: exportAll },
];
