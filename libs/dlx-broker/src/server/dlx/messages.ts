import { JsonText } from '../http/json.js';
import { badRequest, ok } from '../http/reply.js';
import type { Handler, Resource } from '../http/resource.js';
import { discard, discardAll } from './discard.js';
import { matcherOf } from './filter.js';
import { cursorIn, filterInQuery, filterParameters, numberIn, onlyKnown, wordIn } from './input.js';
import { messageToJson, type Shown } from './message-json.js';
import { entryNamed } from './named-message.js';
import { UnreadableBodies } from './payload.js';
import { aboutQueue, readableQueue } from './readable-queue.js';
import { cursorText, scan } from './scan.js';
import { inTurns } from '../http/turns.js';

/** The messages of a page: the default and the maximum. */
const pageSize = { usual: 50, most: 500 };
const truncation = { usual: 1_024, most: 1_048_576 };
/**
 * The most bytes of bodies on a page, and characters of a page. A page with long histories ends early, and its cursor says where.
 */
const mostBytes = 16_777_216;
/** The most characters of a header on a page. A single message is shown whole. */
const longestHeader = 4_096;
/** The messages that one request examines: the default and the maximum. */
export const scanned = { usual: 100_000, most: 1_000_000 };

const shownParameters = ['encoding', 'truncate'];

/** A page of the ready messages of a queue. Reading delivers, counts and flags nothing. */
const browse: Handler = async (request, management) => {
  const { query } = request;
  onlyKnown(query.keys(), [...filterParameters, ...shownParameters, 'page_size', 'cursor', 'scan'], 'parameter');
  const queue = readableQueue(request, management);
  const limit = numberIn(query, 'page_size', pageSize.usual, 1, pageSize.most);
  const shown = shownIn(query, truncation.usual, longestHeader);
  if (limit * shown.truncate > mostBytes) throw badRequest(`page_size times truncate is over ${mostBytes} bytes`);
  const items: string[] = [];
  let length = 0;
  const unread = new UnreadableBodies();
  const work = scan({
    queue,
    matches: matcherOf(filterInQuery(query), unread),
    after: cursorIn(query),
    most: numberIn(query, 'scan', scanned.usual, 1, scanned.most),
    now: () => management.now(),
    found: (entry) => {
      const item = JSON.stringify(messageToJson(entry, shown));
      length += item.length;
      return items.push(item) < limit && length < mostBytes;
    },
  });
  const { scanned: looked, next } = await inTurns(work, management.dlx.turns, request.signal);
  return ok({
    ...aboutQueue(queue),
    items: new JsonText(`[${items.join()}]`),
    scanned: looked,
    complete: next === undefined,
    cursor: cursorText(next),
    ...unread.json,
  });
};

const show: Handler = (request, management) => {
  onlyKnown(request.query.keys(), shownParameters, 'parameter');
  const entry = entryNamed(request, readableQueue(request, management));
  return ok(messageToJson(entry, { ...shownIn(request.query, Infinity, Infinity), errors: true }));
};

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
