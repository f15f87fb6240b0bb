import type { Queue } from '../../../engine/broker/index.js';
import { type Columns, cut, nameFilter, type Page, pageIn, rowOf, sorted } from '../../api/lists.js';
import { badRequest, ok } from '../../http/reply.js';
import type { Handler } from '../../http/resource.js';
import type { Management } from '../../management.js';
import { queueSeries } from '../../statistics/series.js';
import type { Statistics } from '../../statistics/statistics.js';
import type { DeadLetterGraph } from '../graph/dead-letter-graph.js';
import { onlyKnown, wordIn } from '../input.js';
import { reasonsFor } from '../pause/pause-json.js';
import { seenVhosts } from '../seen-vhosts.js';
import { type DeadLetterSign, deadLetterSign } from '../letter-facts.js';
import { queueRowColumns } from './queue-row.js';

const lengthIndex = queueSeries.names.indexOf('messages_ready');

/** One sample of this many is shown: the list has a small chart for each queue. */
const step = 2;

/** The number of values, for five minutes. */
const points = 31;

/**
 * The numbers of ready messages of a queue in the last five minutes, oldest first, one for each ten seconds. Null before the queue was
 * there, or the port was open.
 */
function lengthsOf(statistics: Statistics): (queue: Queue) => readonly (number | null)[] {
  const { recentTimes } = statistics;
  const times = recentTimes.filter((_, index) => (recentTimes.length - 1 - index) % step === 0);
  const before = new Array<null>(Math.max(0, points - times.length)).fill(null);
  return (queue) => {
    const history = statistics.history(queue);
    return [...before, ...times.slice(-points).map((time) => history?.at(time)?.[lengthIndex] ?? null)];
  };
}

const parameters = ['vhost', 'name', 'dead', 'sort', 'sort_reverse', 'page', 'page_size', 'lengths'];

/** The order of the queues of a list. */
interface Order {
  /** Undefined: by virtual host and name. */
  readonly column: string | undefined;
  readonly isReverse: boolean;
}

/** A page of the queues that the user may see. Sorting and filtering read counters, and no message but the first of a queue. */
export const listQueues: Handler = async (request, management) => {
  const { query } = request;
  const { dlx, host } = management;
  const graphs = new Map<unknown, DeadLetterGraph>();
  const signOf = (queue: Queue): DeadLetterSign | undefined => {
    const graph = graphs.get(queue.home);
    return graph && deadLetterSign(queue, graph);
  };
  const columns = queueRowColumns(
    management.nodeName,
    management.measures(request),
    signOf,
    reasonsFor(management.broker, request.user),
  );
  const { page, onlyDead, order, withLengths } = queueListIn(query, columns);
  for (const vhost of seenVhosts(request, management)) graphs.set(vhost, await dlx.graphs.of(vhost));
  const all = [...graphs.values()].flatMap(({ queues }) => queues).filter(({ deleted }) => !deleted);
  const fits = page.name === undefined ? undefined : nameFilter(page, host.patterns, all.length);
  const found = all.filter((queue) => (!onlyDead || signOf(queue) !== undefined) && (fits?.(queue.name) ?? true));
  const more = withLengths ? lengthColumn(management) : undefined;
  return ok(
    cut(arrange(found, columns, order), page, all.length, (queue) => ({ ...rowOf(queue, columns), ...more?.(queue) })),
  );
};

function lengthColumn({ statistics }: Management): (queue: Queue) => object {
  const lengths = lengthsOf(statistics);
  return (queue) => ({ lengths: lengths(queue) });
}

/** The parts of a list of queues that a request asks for. */
interface QueueList {
  readonly page: Page;
  readonly onlyDead: boolean;
  readonly order: Order;
  /** True: each row has the lengths of the last minutes. */
  readonly withLengths: boolean;
}

/**
 * Reads the filters, the order and the page of a list.
 * @throws Problem 400
 */
function queueListIn(query: URLSearchParams, columns: Columns<never>): QueueList {
  onlyKnown(query.keys(), parameters, 'parameter');
  const page = pageOf(query);
  const onlyDead = wordIn(query, 'dead', ['true', 'false'], 'false') === 'true';
  const isReverse = wordIn(query, 'sort_reverse', ['true', 'false'], 'false') === 'true';
  const withLengths = wordIn(query, 'lengths', ['true', 'false'], 'false') === 'true';
  return { page, onlyDead, withLengths, order: { column: sortIn(query, columns), isReverse } };
}

/** @throws Problem 400 */
function pageOf(query: URLSearchParams): Page {
  const asked = new URLSearchParams(query);
  if (!asked.has('page')) asked.set('page', '1');
  return pageIn(asked) as Page;
}

/** @throws Problem 400 for a column by which no list is sorted */
function sortIn(query: URLSearchParams, columns: Columns<never>): string | undefined {
  const column = query.get('sort');
  if (column === null || column === '') return undefined;
  const known = Object.keys(columns).filter((name) => name !== 'features' && name !== 'paused');
  if (known.includes(column)) return column;
  throw badRequest(`'sort' should be one of ${known.join(', ')}: '${column}'`);
}

/** Sorts queues that are sorted by virtual host and name, which is also the order of equal rows. */
function arrange(found: Queue[], columns: Columns<Queue>, { column, isReverse }: Order): readonly Queue[] {
  if (column === undefined) return isReverse ? found.reverse() : found;
  const none = isReverse ? -Infinity : Infinity; // rows without a value are last
  return sorted(found, (queue) => [columns[column]?.(queue) ?? none], isReverse);
}
