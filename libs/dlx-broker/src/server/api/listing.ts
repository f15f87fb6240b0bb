import { type Columns, type Row, rowOf, valueAt, wantedIn } from './columns.js';
import { cut, nameFilter, type Page, pageIn } from './paging.js';
import { Rows } from '../http/json.js';
import type { Management } from '../management.js';
import { type Answer, ok } from '../http/reply.js';
import type { ApiRequest } from '../http/resource.js';
import { sorted } from './sorting.js';

export type { Row };

const usually: readonly string[] = ['vhost', 'name'];

/**
 * A list as RabbitMQ shows it: sorted (`sort`, `sort_reverse`), cut into pages (`page`, `page_size`, `name`,
 * `use_regex`), with the requested `columns`. Its items are those of the beginning, so none is
 * shown twice; each row shows its item as it is when the row is made.
 * @param items all items
 * @param sortedBy the columns of the default order, which also orders equal rows
 * @throws Problem 400 for an impossible page
 */
export function listOf<T>(
  request: ApiRequest,
  management: Management,
  items: readonly T[],
  columns: Columns<T>,
  sortedBy: readonly string[] = usually,
): Answer {
  const { query } = request;
  const page = pageIn(query);
  const wanted = wantedIn(query);
  const show = (item: T): unknown => rowOf(item, columns, wanted);
  const inOrder = arranged(items, columns, query, page && filterOf(page, management, columns, items.length), sortedBy);
  return ok(page === undefined ? new Rows(inOrder, show) : cut(inOrder, page, items.length, show));
}

/** The filter of a page; undefined: all items pass. */
function filterOf<T>(
  page: Page,
  { host: { patterns } }: Management,
  columns: Columns<T>,
  count: number,
): ((item: T) => boolean) | undefined {
  if (page.name === undefined) return undefined;
  const fits = nameFilter(page, patterns, count);
  return (item) => fits(String(columns['name']?.(item) ?? ''));
}

function arranged<T>(
  items: readonly T[],
  columns: Columns<T>,
  query: URLSearchParams,
  fits: ((item: T) => boolean) | undefined,
  sortedBy: readonly string[],
): readonly T[] {
  const found = fits === undefined ? items : items.filter(fits);
  const asked = query.get('sort');
  // An empty `sort` asks for no order at all.
  if (asked === '') return found;
  const paths = [...(asked === null ? [] : [asked]), ...sortedBy].map((column) => column.split('.'));
  const keysOf = (item: T): readonly unknown[] => paths.map((path) => valueAt(item, columns, path));
  return sorted(found, keysOf, query.get('sort_reverse') === 'true');
}

/** As {@link listOf}, for rows that exist already. */
export function list(
  request: ApiRequest,
  management: Management,
  rows: readonly Row[],
  sortedBy: readonly string[] = usually,
): Answer {
  return listOf(request, management, rows, columnsOf(rows), sortedBy);
}

/** One object, with the `columns` that were asked for. */
export function oneOf<T>(request: ApiRequest, item: T, columns: Columns<T>): Answer {
  return ok(rowOf(item, columns, wantedIn(request.query)));
}

/** One object, with the `columns` that were asked for. */
export function one(request: ApiRequest, row: Row): Answer {
  return oneOf(request, row, columnsOf([row]));
}

function columnsOf(rows: readonly Row[]): Columns<Row> {
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  return Object.fromEntries([...names].map((name) => [name, (row: Row) => row[name]]));
}
