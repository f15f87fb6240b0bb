/** An object of an answer. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * The columns of a kind of object. A column with the value undefined is left out. A list reads only the columns that it sorts by
 * and shows, and only the items of its page.
 */
export type Columns<T> = Readonly<Record<string, (item: T) => unknown>>;

/** The parameter `columns` as a tree: `a,b.c` asks for all of `a`, and of `b` for `c` only. */
export type Wanted = ReadonlyMap<string, Wanted | 'all'>;

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
