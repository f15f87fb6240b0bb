import type { ComponentChildren } from 'preact';
import { address, changeList, setQuery } from '../router';
import { count } from './format';

/** A column of a table. `sort` is the name of the server's column; without it the column cannot be sorted. */
export interface Column<T> {
  readonly title: string;
  /** Shown in the head in place of the title, for example a checkbox. */
  readonly heading?: ComponentChildren;
  readonly cell: (row: T) => ComponentChildren;
  readonly sort?: string;
  readonly numeric?: boolean;
  /** Left out on narrow screens. */
  readonly minor?: boolean;
  /** An explanation of the column. */
  readonly tip?: string;
}

/**
 * A table of rows. Sorting is in the address (`sort`, `sort_reverse`): the server sorts.
 * A row with `data-row` can be reached by j and k; Enter opens its first link.
 */
export function Table<T>(props: {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Marks rows. */
  rowClass?: (row: T) => string | undefined;
}) {
  const { label, columns, rows, keyOf, rowClass } = props;
  return (
    <div class="table-scroll" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.title} column={column} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} data-row={keyOf(row)} class={rowClass?.(row)} tabIndex={-1} onKeyDown={openRow}>
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)} data-title={column.title}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Heading<T>({ column }: { column: Column<T> }) {
  const { title, heading, sort, tip } = column;
  if (sort === undefined) {
    return (
      <th scope="col" class={classOf(column)} title={tip}>
        {heading ?? title}
      </th>
    );
  }
  const { query } = address.value;
  const isSorted = query.get('sort') === sort;
  const isReverse = query.get('sort_reverse') === 'true';
  const next = isSorted ? (isReverse ? { sort } : { sort: undefined }) : { sort, sort_reverse: true };
  return (
    <th
      scope="col"
      class={classOf(column)}
      title={tip}
      aria-sort={isSorted ? (isReverse ? 'descending' : 'ascending') : 'none'}
    >
      <button type="button" class="sort" onClick={() => changeList({ sort_reverse: undefined, ...next })}>
        {title}
        {isSorted && <span aria-hidden="true">{isReverse ? '↓' : '↑'}</span>}
      </button>
    </th>
  );
}

/** Enter on a row opens its first link. Enter on a control in the row does what the control does. */
function openRow(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.target !== event.currentTarget) return;
  const link = (event.currentTarget as HTMLElement).querySelector<HTMLElement>('a[href]');
  if (link === null) return;
  event.preventDefault();
  link.click();
}

function classOf<T>({ numeric = false, minor = false }: Column<T>): string | undefined {
  return [numeric && 'numeric', minor && 'minor'].filter(Boolean).join(' ') || undefined;
}

/** Turns the pages of a list. The page is in the address, as `page` or under another name. */
export function Pager(props: {
  page: number;
  pages: number;
  filtered: number;
  total: number;
  what: string;
  name?: string;
}) {
  const { page, pages, filtered, total, what, name = 'page' } = props;
  const text = filtered === total ? `${count(total)} ${what}` : `${count(filtered)} of ${count(total)} ${what}`;
  return (
    <nav class="pager" aria-label="Pages">
      <span>{text}</span>
      {pages > 1 && (
        <span class="pages">
          <button type="button" disabled={page <= 1} onClick={() => setQuery({ [name]: page - 1 })}>
            Previous
          </button>
          <span>
            {count(page)} / {count(pages)}
          </span>
          <button type="button" disabled={page >= pages} onClick={() => setQuery({ [name]: page + 1 })}>
            Next
          </button>
        </span>
      )}
    </nav>
  );
}
