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
    const order = compare(one[index] as Key, other[index] as Key);
    if (order !== 0) return order;
  }
  return 0;
}

function compare(one: Key, other: Key): number {
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
