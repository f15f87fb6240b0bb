import type { Entry, Queue } from '../../broker/index.js';
import { JsonSink } from '../http/json.js';
import type { Management } from '../management.js';
import { badRequest, noContent, notFound, ok } from '../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../http/resource.js';
import { type MessageFilter, matcherOf } from './filter.js';
import { cursorIn, filterInQuery, filterNames, filterToJson, numberIn, onlyKnown, wordIn } from './input.js';
import { messageToJson, type Shown } from './message-json.js';
import { Unread } from './payload.js';
import { readableQueue } from './readable-queue.js';
import { cursorText, scan } from './scan.js';
import { inTurns } from '../http/turns.js';

/** The messages of a page: the default and the maximum. */
const pageSize = { usual: 50, most: 500 };
const truncation = { usual: 1_024, most: 1_048_576 };
/**
 * The most bytes of bodies on a page, and of a page. A page with long histories ends early, and its cursor says where.
 */
const mostBytes = 16_777_216;
/** The most characters of a header on a page. A single message is shown whole. */
const longestHeader = 4_096;
/** The messages that one request examines: the default and the maximum. */
export const scanned = { usual: 100_000, most: 1_000_000 };

const filterParameters = [...Object.keys(filterNames), 'header'];
const shownParameters = ['encoding', 'truncate'];

/** A page of the ready messages of a queue. Reading delivers, counts and flags nothing. */
const browse: Handler = async (request, management) => {
  const { query } = request;
  onlyKnown(query.keys(), [...filterParameters, ...shownParameters, 'page_size', 'cursor', 'scan'], 'parameter');
  const queue = readableQueue(request, management);
  const limit = numberIn(query, 'page_size', pageSize.usual, 1, pageSize.most);
  const shown = shownIn(query, truncation.usual, longestHeader);
  if (limit * shown.truncate > mostBytes) throw badRequest(`page_size times truncate is over ${mostBytes} bytes`);
  const items = new JsonSink(Infinity);
  let count = 0;
  const unread = new Unread();
  const work = scan({
    queue,
    matches: matcherOf(filterInQuery(query), unread),
    after: cursorIn(query),
    most: numberIn(query, 'scan', scanned.usual, 1, scanned.most),
    now: () => management.now(),
    found: (entry) => {
      items.add((count === 0 ? '[' : ',') + JSON.stringify(messageToJson(entry, shown)));
      return ++count < limit && items.bytes < mostBytes;
    },
  });
  const { scanned: looked, next } = await management.dlx.searches.run(request.user.name, () =>
    inTurns(work, management.dlx.turns, request.signal),
  );
  items.add(count === 0 ? '[]' : ']');
  return ok({
    ...aboutQueue(queue),
    items: items.end(),
    scanned: looked,
    complete: next === undefined,
    cursor: cursorText(next),
    ...unread.json,
  });
};

/** The present state of a queue. */
export const aboutQueue = (queue: Queue): Record<string, unknown> => ({
  queue: queue.name,
  messages_ready: queue.length,
  messages_unacknowledged: queue.unacked,
});

const show: Handler = (request, management) => {
  onlyKnown(request.query.keys(), shownParameters, 'parameter');
  const entry = entryNamed(request, readableQueue(request, management));
  return ok(messageToJson(entry, shownIn(request.query, Infinity, Infinity)));
};

const discard: Handler = (request, management) => {
  onlyKnown(request.query.keys(), [], 'parameter');
  const queue = readableQueue(request, management);
  const entry = entryNamed(request, queue);
  if (!management.vhost(request.names['vhost'] ?? '').discard(queue, entry)) throw notFound();
  request.note({ discarded: 1 });
  return noContent;
};

/** Deletes the messages that match and were there at the beginning. None is dead-lettered. */
const discardAll: Handler = async (request, management) => {
  const { query } = request;
  onlyKnown(query.keys(), [...filterParameters, 'dry_run'], 'parameter');
  const queue = readableQueue(request, management);
  const filter = filterInQuery(query);
  const matches = matcherOf(filter);
  if (matches === undefined) {
    throw badRequest('say which messages: a filter. All of them go by DELETE /api/queues/vhost/name/contents');
  }
  const dryRun = wordIn(query, 'dry_run', ['true', 'false'], 'false') === 'true';
  const counts = await discardMatching(request, management, queue, filter, dryRun);
  return ok({ ...aboutQueue(queue), dry_run: dryRun, ...counts });
};

async function discardMatching(
  request: ApiRequest,
  management: Management,
  queue: Queue,
  filter: MessageFilter,
  dryRun: boolean,
): Promise<{ matched: number; discarded: number; scanned: number }> {
  const vhost = management.vhost(request.names['vhost'] ?? '');
  const last = queue.lastPosition;
  const counts = { matched: 0, discarded: 0 };
  request.note({ filter: filterToJson(filter), dry_run: dryRun, counts });
  const found = (entry: Entry): boolean => {
    if (entry.position > last) return true;
    counts.matched++;
    if (!dryRun && vhost.discard(queue, entry)) counts.discarded++;
    return true;
  };
  const unread = new Unread();
  const matches = matcherOf(filter, unread);
  const work = scan({ queue, matches, most: Infinity, now: () => management.now(), found });
  const { scanned: looked } = await management.dlx.searches.run(request.user.name, () =>
    inTurns(work, management.dlx.turns, request.signal),
  );
  return { ...counts, scanned: looked, ...unread.json };
}

/**
 * The position of the message that the path names.
 * @throws Problem 400
 */
export function positionNamed({ names }: ApiRequest): number {
  const id = names['id'] ?? '';
  if (!/^\d{1,16}$/.test(id)) throw badRequest(`'${id}' is no id of a message`);
  return Number(id);
}

/**
 * The message that the path names.
 * @throws Problem 404 if it is not ready any more
 */
function entryNamed(request: ApiRequest, queue: Queue): Entry {
  const entry = queue.find(positionNamed(request));
  if (entry === undefined) throw notFound();
  return entry;
}

function shownIn(query: URLSearchParams, truncate: number, longest: number): Shown {
  return {
    encoding: wordIn(query, 'encoding', ['auto', 'base64'], 'auto'),
    truncate: numberIn(query, 'truncate', truncate, 0, truncation.most),
    longestHeader: longest,
  };
}

const path = '/dlx/queues/:vhost/:name/messages';

export const messages: readonly Resource[] = [
  { path, allows: 'management', GET: browse, DELETE: discardAll },
  { path: `${path}/:id`, allows: 'management', GET: show, DELETE: discard },
];
