import { setImmediate } from 'node:timers/promises';
import type { Patterns } from '../broker/index.js';
import { type Columns, type Row, rowOf, valueAt, wantedIn } from './columns.js';
import { cut, nameFilter, pageIn } from './paging.js';
import { type Answer, JsonText, ok } from './reply.js';
import type { ApiRequest } from './resource.js';
import { sorted } from './sorting.js';

export type { Row };

/** Rows that are made in one go. */
const atOnce = 200;

const usually: readonly string[] = ['vhost', 'name'];

/**
 * A list as RabbitMQ shows it: sorted (`sort`, `sort_reverse`), cut into pages when `page` is given (`page_size`, `name`,
 * `use_regex`), of each item the `columns` that were asked for.
 * @param sortedBy columns to sort by when nobody says by which, and among those that are equal
 * @throws Problem 400 for a page that cannot be
 */
export function listOf<T>(
  request: ApiRequest,
  patterns: Patterns,
  items: readonly T[],
  columns: Columns<T>,
  sortedBy: readonly string[] = usually,
): Answer | Promise<Answer> {
  const { query } = request;
  const page = pageIn(query);
  const wanted = wantedIn(query);
  const show = (item: T): unknown => rowOf(item, columns, wanted);
  let found = items;
  if (page?.name !== undefined) {
    const fits = nameFilter(page, patterns);
    found = items.filter((item) => fits(String(columns['name']?.(item) ?? '')));
  }
  const asked = query.get('sort');
  const paths = [...(asked === null ? [] : [asked]), ...sortedBy].map((column) => column.split('.'));
  const keysOf = (item: T): readonly unknown[] => paths.map((path) => valueAt(item, columns, path));
  // An empty `sort` asks for no order at all.
  const inOrder = asked === '' ? found : sorted(found, keysOf, query.get('sort_reverse') === 'true');
  if (page !== undefined) return ok(cut(inOrder, page, items.length, show));
  return inOrder.length <= atOnce ? ok(inOrder.map(show)) : inSlices(inOrder, show);
}

/** A long list is made slice by slice, so that messages get through in between. */
async function inSlices<T>(items: readonly T[], show: (item: T) => unknown): Promise<Answer> {
  const slices: string[] = [];
  for (let start = 0; start < items.length; start += atOnce) {
    const slice = items.slice(start, start + atOnce).map((item) => JSON.stringify(show(item)));
    slices.push(slice.join(','));
    await setImmediate();
  }
  return ok(new JsonText(`[${slices.join(',')}]`));
}

/** The same of rows that are there anyway. */
export function list(
  request: ApiRequest,
  patterns: Patterns,
  rows: readonly Row[],
  sortedBy: readonly string[] = usually,
): Answer | Promise<Answer> {
  return listOf(request, patterns, rows, columnsOf(rows), sortedBy);
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
