import type { MatchCost, Patterns } from '../../engine/broker/index.js';
import { Rows } from '../http/json.js';
import { type Answer, badRequest, ok, Problem } from '../http/reply.js';
import type { ApiRequest } from '../http/resource.js';
import type { Management } from '../management.js';

/** An object of an answer. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * The columns of a kind of object. A column with the value undefined is left out. A list reads only the columns that it sorts by
 * and shows, and only the items of its page.
 */
export type Columns<T> = Readonly<Record<string, (item: T) => unknown>>;

/** The parameter `columns` as a tree: `a,b.c` asks for all of `a`, and of `b` for `c` only. */
type Wanted = ReadonlyMap<string, Wanted | 'all'>;

export function wantedIn(query: URLSearchParams): Wanted | undefined {
  const columns = query.get('columns');
  if (columns === null) return undefined;
  const wanted: Tree = new Map();
  for (const column of columns.split(','))
    plant(
      wanted,
      column.split('.').filter((part) => part !== ''),
    );
  return wanted;
}

type Tree = Map<string, Tree | 'all'>;

function plant(tree: Tree, [first, ...rest]: readonly string[]): void {
  if (first === undefined) return;
  const branch = tree.get(first);
  if (branch === 'all') return;
  if (rest.length === 0) return void tree.set(first, 'all');
  const below: Tree = branch ?? new Map();
  tree.set(first, below);
  plant(below, rest);
}

/** The row of an item: all columns, or the wanted ones. */
export function rowOf<T>(item: T, columns: Columns<T>, wanted?: Wanted): Row | readonly never[] {
  const row: Record<string, unknown> = {};
  const names =
    wanted === undefined ? Object.keys(columns) : [...wanted.keys()].filter((name) => Object.hasOwn(columns, name));
  for (const name of names) {
    const value = columns[name]?.(item);
    if (value === undefined) continue;
    const below = wanted?.get(name) ?? 'all';
    row[name] = below === 'all' ? value : part(value, below);
  }
  return filled(row);
}

/** The wanted part of a value. A table whose names are data, such as arguments, has no prototype and is shown whole. */
function part(value: unknown, wanted: Wanted): unknown {
  if (Array.isArray(value)) return value.map((each) => part(each, wanted));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) === null) return value;
  const row: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(value)) {
    const below = wanted.get(name);
    if (below !== undefined) row[name] = below === 'all' ? each : part(each, below);
  }
  return filled(row);
}

/** RabbitMQ shows an object without columns as an empty list. */
const filled = (row: Row): Row | readonly never[] => (Object.keys(row).length === 0 ? [] : row);

/** The value of a column for sorting; the path `a.b` reads a nested one. */
export function valueAt<T>(item: T, columns: Columns<T>, [first = '', ...path]: readonly string[]): unknown {
  let value = Object.hasOwn(columns, first) ? columns[first]?.(item) : undefined;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Row)[name];
  }
  return value;
}

/** A sort key: a number, a string, or the text of another value with the rank of its type. */
type Key = number | string | { readonly rank: number; readonly text: string };

interface Keyed<T> {
  readonly item: T;
  readonly keys: readonly Key[];
}

/** The most characters of an object or list that are compared. */
const longestText = 1_024;

/**
 * Sorts by several keys of each item, in Erlang's order of types: numbers, then true, false and null, objects, lists,
 * text. A missing value is 0. `reverse` reverses the sorted list, equal items included.
 */
export function sorted<T>(items: readonly T[], keysOf: (item: T) => readonly unknown[], reverse: boolean): T[] {
  const keyed = items.map((item): Keyed<T> => ({ item, keys: keysOf(item).map(keyOf) }));
  const inOrder = keyed.sort(compareAll).map(({ item }) => item);
  return reverse ? inOrder.reverse() : inOrder;
}

function compareAll<T>({ keys: one }: Keyed<T>, { keys: other }: Keyed<T>): number {
  for (let index = 0; index < one.length; index++) {
    const order = compareKeys(one[index] as Key, other[index] as Key);
    if (order !== 0) return order;
  }
  return 0;
}

function compareKeys(one: Key, other: Key): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  const ranks = rankOf(one) - rankOf(other);
  if (ranks !== 0) return ranks;
  const [a, b] = [textOf(one), textOf(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function keyOf(value: unknown): Key {
  if (value === undefined) return 0;
  if (typeof value === 'number' || typeof value === 'string') return value;
  if (typeof value === 'boolean' || value === null) return { rank: 1, text: String(value) };
  if (typeof value !== 'object') return String(value);
  return { rank: Array.isArray(value) ? 3 : 2, text: beginningOf(JSON.stringify(value)) };
}

/** The beginning of a string, copied: a substring would keep the whole text in memory. */
const beginningOf = (text: string): string =>
  text.length <= longestText ? text : Buffer.from(text.slice(0, longestText)).toString();

const rankOf = (key: Key): number => (typeof key === 'number' ? 0 : typeof key === 'string' ? 4 : key.rank);
const textOf = (key: Key): string => (typeof key === 'object' ? key.text : String(key));

/** A page of a list, counted from 1. */
export interface Page {
  readonly number: number;
  readonly size: number;
  /** Part of the name, or a pattern; undefined for all. */
  readonly name: string | undefined;
  readonly useRegex: boolean;
}

const defaultPageSize = 100;
const largestPageSize = 500;

/**
 * The requested page; undefined without the parameter `page`, and then `name` has no effect either.
 * @throws Problem 400 for an invalid page
 */
export function pageIn(query: URLSearchParams): Page | undefined {
  const number = integer(query.get('page'));
  const asked = integer(query.get('page_size'));
  if (number === undefined) return undefined;
  if (number < 1 || (asked !== undefined && (asked < 1 || asked > largestPageSize))) {
    const reason = `Invalid pagination parameters: page number ${number}, page size ${asked ?? 'undefined'}`;
    throw new Problem(400, 'invalid_pagination_parameters', reason);
  }
  const name = query.get('name') ?? '';
  const useRegex = query.get('use_regex') === 'true';
  return { number, size: asked ?? defaultPageSize, name: name === '' ? undefined : name, useRegex };
}

const tooExpensive = (steps: number, count: number): Problem =>
  badRequest(`the pattern in 'name' takes more than ${steps} steps for ${count} names: write a simpler pattern`);

const invalid = (): Problem => badRequest('Pagination parameters are invalid');

function integer(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw invalid();
  return Number(text);
}

/** The most steps of a pattern for all names of a request: a fixed number, and a number for each name. */
const stepLimit = { all: 1_000_000, each: 200 };

/**
 * Makes the filter of names, which ignores case. The steps of a pattern for all names together are limited.
 * @param count of names
 * @throws Problem 400 when the pattern is none; the filter itself throws it when the pattern takes too many steps
 */
export function nameFilter(
  { name = '', useRegex }: Page,
  patterns: Patterns,
  count: number,
): (name: string) => boolean {
  if (!useRegex) {
    const wanted = name.toLowerCase();
    return (text) => text.toLowerCase().includes(wanted);
  }
  try {
    const matcher = patterns.compile(`(?i)${name}`);
    const cost: MatchCost = { steps: 0 };
    const most = stepLimit.all + stepLimit.each * count;
    return (text) => {
      const matched = matcher.matches(text, cost);
      if (cost.steps > most) throw tooExpensive(most, count);
      return matched;
    };
  } catch {
    throw invalid();
  }
}

/** The items of a page; none after the last page. */
const onPage = <T>(items: readonly T[], { number, size }: Page): readonly T[] =>
  items.slice((number - 1) * size, number * size);

/** @param found the number of items after the filter @throws Problem 400 for a page after the last one */
export function cut<T>(items: readonly T[], page: Page, total: number, show: (item: T) => unknown): object {
  const { number, size } = page;
  const start = (number - 1) * size;
  if (start > items.length) {
    const reason = `Page out of range, page: ${number} page size: ${size}, len: ${items.length}`;
    throw new Problem(400, 'page_out_of_range', reason);
  }
  const shown = onPage(items, page);
  return {
    filtered_count: items.length,
    item_count: shown.length,
    items: new Rows(shown, show),
    page: number,
    page_count: Math.ceil(items.length / size),
    page_size: size,
    total_count: total,
  };
}

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

/** A list that RabbitMQ never cuts into pages. */
export function wholeList(
  request: ApiRequest,
  management: Management,
  rows: readonly Row[],
  sortedBy: readonly string[] = ['vhost', 'name'],
): Answer {
  return list(withoutPages(request), management, rows, sortedBy);
}

/** A request whose list is not cut into pages. */
export function withoutPages(request: ApiRequest): ApiRequest {
  const query = new URLSearchParams(request.query);
  query.delete('page');
  return { ...request, query };
}

/** A row without one of its columns. */
export const without = (row: Row, column: string): Row =>
  Object.fromEntries(Object.entries(row).filter(([key]) => key !== column));
