import type { Queue } from '../../../broker/index.js';
import { cut, nameFilter, type Page, pageIn } from '../../api/paging.js';
import { sorted } from '../../api/sorting.js';
import { inTurns } from '../../http/turns.js';
import { badRequest, ok } from '../../http/reply.js';
import type { Handler } from '../../http/resource.js';
import { rowOf } from '../../api/columns.js';
import { onlyKnown, wordIn } from '../input.js';
import { seenVhosts } from '../seen-vhosts.js';
import { lengthsOf } from './lengths.js';
import { type DeadLetterSign, deadLetterSign, queueRowColumns, type QueueColumns } from './queue-row.js';

const parameters = ['vhost', 'name', 'dead', 'sort', 'sort_reverse', 'page', 'page_size', 'lengths'];

/** The number of queues that are looked at in one step: some hundredths of a millisecond. */
const inOneGo = 64;

/** The order of the queues of a list. */
interface Order {
  /** Undefined: by virtual host and name. */
  readonly column: string | undefined;
  readonly isReverse: boolean;
}

/** A page of the queues that the user may see. Sorting and filtering read counters, and no messages but the first of a queue. */
export const listQueues: Handler = async (request, management) => {
  const { query } = request;
  onlyKnown(query.keys(), parameters, 'parameter');
  const page = pageOf(query);
  const onlyDead = wordIn(query, 'dead', ['true', 'false'], 'false') === 'true';
  const isReverse = wordIn(query, 'sort_reverse', ['true', 'false'], 'false') === 'true';
  const withLengths = wordIn(query, 'lengths', ['true', 'false'], 'false') === 'true';
  const { dlx, host } = management;
  const vhosts = seenVhosts(request, management);
  const graphs = new Map<unknown, Awaited<ReturnType<typeof dlx.graphs.of>>>();
  const signOf = (queue: Queue): DeadLetterSign | undefined => {
    const graph = graphs.get(queue.home);
    return graph && deadLetterSign(queue, graph);
  };
  const columns = queueRowColumns(management.nodeName, management.measures(request), signOf);
  const order = { column: sortIn(query, columns), isReverse };
  for (const vhost of vhosts) graphs.set(vhost, await dlx.graphs.of(vhost));
  const all = [...graphs.values()].flatMap(({ queues }) => queues);
  const fits = page.name === undefined ? undefined : nameFilter(page, host.patterns, all.length);
  const work = arranged(
    all,
    columns,
    order,
    (queue) => (!onlyDead || signOf(queue) !== undefined) && (fits?.(queue.name) ?? true),
  );
  const { found, total } = await inTurns(work, dlx.turns, request.signal);
  const lengths = withLengths ? lengthsOf(management.statistics) : undefined;
  return ok(
    cut(found, page, total, (queue) => ({ ...rowOf(queue, columns), ...(lengths && { lengths: lengths(queue) }) })),
  );
};

/** @throws Problem 400 */
function pageOf(query: URLSearchParams): Page {
  const asked = new URLSearchParams(query);
  if (!asked.has('page')) asked.set('page', '1');
  return pageIn(asked) as Page;
}

/** @throws Problem 400 for a column by which no list is sorted */
function sortIn(query: URLSearchParams, columns: QueueColumns): string | undefined {
  const column = query.get('sort');
  if (column === null || column === '') return undefined;
  const known = Object.keys(columns).filter((name) => name !== 'features');
  if (known.includes(column)) return column;
  throw badRequest(`'sort' should be one of ${known.join(', ')}: '${column}'`);
}

/** Filters and sorts queues that are sorted by virtual host and name, which is also the order of equal rows. */
function* arranged(
  all: readonly Queue[],
  columns: QueueColumns,
  { column, isReverse }: Order,
  fits: (queue: Queue) => boolean,
): Generator<void, { found: readonly Queue[]; total: number }, void> {
  const found: Queue[] = [];
  let total = 0;
  for (const queue of all) {
    if (queue.deleted) continue;
    total++;
    if (fits(queue)) found.push(queue);
    if (total % inOneGo === 0) yield;
  }
  if (column === undefined) return { found: isReverse ? found.reverse() : found, total };
  const none = isReverse ? -Infinity : Infinity; // rows without a value are last
  const keyOf = (queue: Queue): readonly unknown[] => [columns[column]?.(queue) ?? none];
  return { found: yield* sorted(found, keyOf, isReverse), total };
}
