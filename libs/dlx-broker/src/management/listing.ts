import type { Patterns } from '../broker/index.js';
import type { ApiRequest } from './resource.js';
import { type Answer, Problem, badRequest, ok } from './reply.js';

/** An object of a list, as it is shown. */
export type Row = Readonly<Record<string, unknown>>;

const defaultPageSize = 100;
const largestPageSize = 500;

/**
 * A list as RabbitMQ shows it: sorted (`sort`, `sort_reverse`), cut into pages when `page` is given (`page_size`, `name`,
 * `use_regex`), each row with the `columns` that were asked for.
 * @param sortedBy columns to sort by when nobody says by which
 * @throws Problem 400 for a page that cannot be
 */
export function list(
  request: ApiRequest,
  patterns: Patterns,
  rows: readonly Row[],
  sortedBy: readonly string[] = ['vhost', 'name'],
): Answer {
  const { query } = request;
  const sort = query.get('sort');
  const page = query.get('page');
  const name = page === null ? null : query.get('name');
  const found = name === null || name === '' ? rows : rows.filter(nameFilter(name, query, patterns));
  const sorted = sortRows(found, sort === null || sort === '' ? sortedBy : [sort]);
  if (query.get('sort_reverse') === 'true') sorted.reverse();
  const columns = columnsOf(query);
  const shown = (some: readonly Row[]): readonly Row[] =>
    columns === undefined ? some : some.map((row) => pick(row, columns));
  if (page === null) return ok(shown(sorted));
  const { number, size } = pageOf(page, query.get('page_size'), sorted.length);
  const items = shown(sorted.slice((number - 1) * size, number * size));
  return ok({
    filtered_count: sorted.length,
    item_count: items.length,
    items,
    page: number,
    page_count: Math.max(1, Math.ceil(sorted.length / size)),
    page_size: size,
    total_count: rows.length,
  });
}

/** One object, with the `columns` that were asked for. */
export function one(request: ApiRequest, row: Row): Answer {
  const columns = columnsOf(request.query);
  return ok(columns === undefined ? row : pick(row, columns));
}

function columnsOf(query: URLSearchParams): readonly string[] | undefined {
  const columns = query.get('columns');
  return columns === null || columns === '' ? undefined : columns.split(',');
}

/** `a.b` asks for all of `a`, as in RabbitMQ. */
function pick(row: Row, columns: readonly string[]): Row {
  const tops = new Set(columns.map((column) => column.split('.')[0]));
  return Object.fromEntries(Object.entries(row).filter(([key]) => tops.has(key)));
}

function nameFilter(name: string, query: URLSearchParams, patterns: Patterns): (row: Row) => boolean {
  if (query.get('use_regex') !== 'true') {
    const wanted = name.toLowerCase();
    return (row) => String(row['name']).toLowerCase().includes(wanted);
  }
  try {
    const matcher = patterns.compile(name);
    return (row) => matcher.matches(String(row['name']));
  } catch {
    throw badRequest('Pagination parameters are invalid');
  }
}

function pageOf(page: string, pageSize: string | null, length: number): { number: number; size: number } {
  const number = Number(page);
  const size = pageSize === null || pageSize === '' ? defaultPageSize : Number(pageSize);
  if (!Number.isInteger(number) || !Number.isInteger(size) || page === '') {
    throw badRequest('Pagination parameters are invalid');
  }
  if (number < 1 || size < 1 || size > largestPageSize) {
    const shownSize = pageSize ?? 'undefined';
    const reason = `Invalid pagination parameters: page number ${number}, page size ${shownSize}`;
    throw new Problem(400, 'invalid_pagination_parameters', reason);
  }
  if (number > 1 && (number - 1) * size >= length) {
    const reason = `Page out of range, page: ${number} page size: ${size}, len: ${length}`;
    throw new Problem(400, 'page_out_of_range', reason);
  }
  return { number, size };
}

function sortRows(rows: readonly Row[], by: readonly string[]): Row[] {
  const paths = by.map((column) => column.split('.'));
  const keyed = rows.map((row) => ({ row, keys: paths.map((path) => at(row, path)) }));
  keyed.sort((one, other) => {
    for (const [index, key] of one.keys.entries()) {
      const order = compare(key, other.keys[index]);
      if (order !== 0) return order;
    }
    return 0;
  });
  return keyed.map(({ row }) => row);
}

function at(value: unknown, path: readonly string[]): unknown {
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Row)[part];
  }
  return value;
}

/** Erlang's order of kinds: numbers before words, as far as columns have them. */
const rank = (value: unknown): number => (value === undefined ? 0 : typeof value === 'number' ? 1 : 2);

function compare(one: unknown, other: unknown): number {
  const ranks = rank(one) - rank(other);
  if (ranks !== 0) return ranks;
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  const [a, b] = [String(one), String(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}
