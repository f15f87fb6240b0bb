import type { Entry, Queue } from '../../engine/broker/index.js';
import { JsonText } from '../http/json.js';
import { badRequest, noContent, notFound, ok, Problem } from '../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../http/resource.js';
import { inTurns } from '../http/turns.js';
import type { Management } from '../management.js';
import { cursorText, matcherOf, type MessageFilter, scan } from './filter.js';
import {
  cursorIn,
  filterInQuery,
  filterParameters,
  filterToJson,
  idsInQuery,
  numberIn,
  onlyKnown,
  wordIn,
} from './input.js';
import { messageToJson, type Shown, UnreadableBodies } from './message-json.js';
import { aboutQueue, entryNamed, readableQueue } from './named.js';

/** Deletes one message. */
export const discard: Handler = (request, management) => {
  onlyKnown(request.query.keys(), [], 'parameter');
  const queue = readableQueue(request, management);
  const entry = entryNamed(request, queue);
  if (!management.vhost(request.names['vhost'] ?? '').discard(queue, entry)) throw notFound();
  request.note({ discarded: 1 });
  return noContent;
};

/** Deletes chosen messages, or those that match and were there at the beginning. None is dead-lettered. */
const discardAll: Handler = async (request, management) => {
  const { query } = request;
  onlyKnown(query.keys(), [...filterParameters, 'ids', 'instance', 'limit', 'dry_run'], 'parameter');
  const queue = readableQueue(request, management);
  const instance = management.dlx.instances.of(queue);
  const ids = idsInQuery(query);
  const filter = filterInQuery(query);
  const isFiltered = matcherOf(filter) !== undefined;
  if (ids === undefined && !isFiltered) {
    throw badRequest(
      'name the messages by a filter or by ids; DELETE /api/queues/vhost/name/contents deletes all of them',
    );
  }
  if (ids !== undefined && isFiltered) throw badRequest("'ids' and a filter exclude each other");
  if (ids !== undefined && query.has('limit')) throw badRequest("'ids' and 'limit' exclude each other");
  if (ids === undefined && query.has('instance')) throw badRequest("'instance' goes with 'ids'");
  if ((query.get('instance') ?? instance) !== instance) {
    throw new Problem(
      409,
      'conflict',
      'the queue was declared anew, or its broker started again, so the ids may be of other messages',
    );
  }
  const limit = numberIn(query, 'limit', mostMessages, 1, mostMessages);
  const dryRun = wordIn(query, 'dry_run', ['true', 'false'], 'false') === 'true';
  const order: Order = { request, management, queue, dryRun };
  const counts = ids === undefined ? await discardMatching(filter, limit, order) : await discardPicked(ids, order);
  return ok({ ...aboutQueue(queue), ...(ids !== undefined && { instance }), dry_run: dryRun, ...counts });
};

/** The largest limit: more messages than any queue holds. */
const mostMessages = 1_000_000_000;

/** One deletion. */
interface Order {
  readonly request: ApiRequest;
  readonly management: Management;
  readonly queue: Queue;
  readonly dryRun: boolean;
}

/** The counts of a deletion as clients see them. */
interface Counts {
  readonly matched: number;
  readonly discarded: number;
  readonly scanned: number;
  /** Ids of messages that are not ready any more. */
  readonly gone?: number;
}

/** The most ids that the audit log names. */
const mostRecorded = 100;

async function discardPicked(ids: readonly number[], { request, management, queue, dryRun }: Order): Promise<Counts> {
  const vhost = management.vhost(request.names['vhost'] ?? '');
  const counts = { matched: 0, discarded: 0, gone: 0 };
  const shown = ids.slice(0, mostRecorded).map(String);
  request.note({ ids: ids.length, first_ids: shown, dry_run: dryRun, counts });
  const work = function* (): Generator<void, void, void> {
    for (const id of ids) {
      const entry = queue.deleted ? undefined : queue.find(id);
      if (entry === undefined) counts.gone++;
      else counts.matched++;
      if (entry !== undefined && !dryRun && vhost.discard(queue, entry)) counts.discarded++;
      yield;
    }
  };
  await run(work(), { request, management });
  return { ...counts, scanned: ids.length };
}

async function discardMatching(
  filter: MessageFilter,
  limit: number,
  { request, management, queue, dryRun }: Order,
): Promise<Counts> {
  const vhost = management.vhost(request.names['vhost'] ?? '');
  const last = queue.lastPosition;
  const counts = { matched: 0, discarded: 0 };
  request.note({ filter: filterToJson(filter), dry_run: dryRun, counts });
  const found = (entry: Entry): boolean => {
    if (entry.position > last) return true;
    counts.matched++;
    if (!dryRun && vhost.discard(queue, entry)) counts.discarded++;
    return counts.matched < limit;
  };
  const unread = new UnreadableBodies();
  const matches = matcherOf(filter, unread);
  const work = scan({ queue, matches, most: Infinity, now: () => management.now(), found });
  const { scanned } = await run(work, { request, management });
  return { ...counts, scanned, ...unread.json };
}

const run = <T>(
  work: Iterator<void, T, void>,
  { request, management }: Pick<Order, 'request' | 'management'>,
): Promise<T> => inTurns(work, management.dlx.turns, request.signal);

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

/** Looks through a queue for the messages of a request, from its cursor on. @returns the part of the answer that says how far */
export async function search(
  { query, signal }: ApiRequest,
  management: Management,
  queue: Queue,
  usual: number,
  found: (entry: Entry) => boolean,
): Promise<object> {
  const unread = new UnreadableBodies();
  const work = scan({
    queue,
    matches: matcherOf(filterInQuery(query), unread),
    after: cursorIn(query),
    most: numberIn(query, 'scan', usual, 1, scanned.most),
    now: () => management.now(),
    found,
  });
  const { scanned: looked, next } = await inTurns(work, management.dlx.turns, signal);
  return { scanned: looked, complete: next === undefined, cursor: cursorText(next), ...unread.json };
}

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
  const progress = await search(request, management, queue, scanned.usual, (entry) => {
    const item = JSON.stringify(messageToJson(entry, shown));
    length += item.length;
    return items.push(item) < limit && length < mostBytes;
  });
  return ok({ ...aboutQueue(queue), items: new JsonText(`[${items.join()}]`), ...progress });
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
