import type { Patterns, Queue } from '../../../broker/index.js';
import { cut, nameFilter, type Page, pageIn } from '../../api/paging.js';
import { sorted } from '../../api/sorting.js';
import { inTurns } from '../../http/turns.js';
import { badRequest, ok } from '../../http/reply.js';
import type { Handler } from '../../http/resource.js';
import { type Columns, rowOf } from '../../api/columns.js';
import type { Management } from '../../management.js';
import { onlyKnown, wordIn } from '../input.js';
import { reasonsFor } from '../pause/pause-json.js';
import { seenVhosts } from '../seen-vhosts.js';
import { lengthsOf } from './lengths.js';
import { type DeadLetterSign, deadLetterSign, queueRowColumns } from './queue-row.js';

const parameters = ['vhost', 'name', 'dead', 'sort', 'sort_reverse', 'page', 'page_size', 'lengths'];

/** The number of queues that are looked at in one step: some hundredths of a millisecond. */
const inOneGo = 64;

/** The order of the queues of a list. */
interface Order {
  /** Undefined: by virtual host and name. */
  readonly column: string | undefined;
  readonly isReverse: boolean;
}

/**
 * A page of the queues that the user may see. Sorting and filtering read counters, and no messages but the first of a queue. Only for the
 * ages of dead letters are more messages looked at: in the queues of the page, or in all when the list is sorted by age.
 */
export const listQueues: Handler = async (request, management) => {
  const { query } = request;
  const { dlx, host } = management;
  const graphs = new Map<unknown, Awaited<ReturnType<typeof dlx.graphs.of>>>();
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
  const list = queueListIn(query, columns);
  const vhosts = seenVhosts(request, management);
  for (const vhost of vhosts) graphs.set(vhost, await dlx.graphs.of(vhost));
  const all = [...graphs.values()].flatMap(({ queues }) => queues);
  const isDead = (queue: Queue): boolean => signOf(queue) !== undefined;
  const shown = {
    ...(list.withLengths && { more: lengthColumn(management) }),
    all,
    columns,
    nameOf: ({ name }: Queue) => name,
    isDead,
    isGone: ({ deleted }: Queue) => deleted,
  };
  return ok(await inTurns(pageOfQueues(list, shown, host.patterns), dlx.turns, request.signal));
};

function lengthColumn({ statistics }: Management): (queue: Queue) => object {
  const lengths = lengthsOf(statistics);
  return (queue) => ({ lengths: lengths(queue) });
}

/** The parts of a list of queues that a request asks for. */
export interface QueueList {
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
export function queueListIn(query: URLSearchParams, columns: Columns<never>): QueueList {
  onlyKnown(query.keys(), parameters, 'parameter');
  const page = pageOf(query);
  const onlyDead = wordIn(query, 'dead', ['true', 'false'], 'false') === 'true';
  const isReverse = wordIn(query, 'sort_reverse', ['true', 'false'], 'false') === 'true';
  const withLengths = wordIn(query, 'lengths', ['true', 'false'], 'false') === 'true';
  return { page, onlyDead, withLengths, order: { column: sortIn(query, columns), isReverse } };
}

/** Queues that are sorted by virtual host and name, and what a list needs to know of each. */
export interface ShownQueues<T> {
  readonly all: readonly T[];
  readonly columns: Columns<T>;
  nameOf(item: T): string;
  isDead(item: T): boolean;
  /** True for a queue that was deleted meanwhile. */
  isGone?(item: T): boolean;
  /** Further columns of the rows, by which no list is sorted. */
  more?(item: T): object;
}

/** The wanted page, in the wanted order. Yields wherever it may pause. @throws Problem 400 for a page after the last one */
export function* pageOfQueues<T>(
  { page, onlyDead, order }: QueueList,
  { all, columns, nameOf, isDead, isGone, more }: ShownQueues<T>,
  patterns: Patterns,
): Generator<void, object, void> {
  const fits = page.name === undefined ? undefined : nameFilter(page, patterns, all.length);
  const found: T[] = [];
  let total = 0;
  for (const queue of all) {
    if (isGone?.(queue) === true) continue;
    total++;
    if ((!onlyDead || isDead(queue)) && (fits?.(nameOf(queue)) ?? true)) found.push(queue);
    if (total % inOneGo === 0) yield;
  }
  const arranged = yield* arrange(found, columns, order);
  return cut(arranged, page, total, (queue) => ({ ...rowOf(queue, columns), ...more?.(queue) }));
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
function* arrange<T>(
  found: T[],
  columns: Columns<T>,
  { column, isReverse }: Order,
): Generator<void, readonly T[], void> {
  if (column === undefined) return isReverse ? found.reverse() : found;
  const none = isReverse ? -Infinity : Infinity; // rows without a value are last
  const keyOf = (queue: T): readonly unknown[] => [columns[column]?.(queue) ?? none];
  return yield* sorted(found, keyOf, isReverse);
}
