/** A sort key: a number, a string, or the text of another value with the rank of its type. */
type Key = number | string | { readonly rank: number; readonly text: string };

interface Keyed<T> {
  readonly item: T;
  readonly keys: readonly Key[];
}

/** The number of items that are sorted, or merged, in one step. */
const itemsPerStep = 64;
/** The number of items whose keys are read in one step. */
const keysPerStep = 8;
/** The most characters of an object or list that are compared. */
const longestText = 1_024;

/**
 * Sorts by several keys of each item, in Erlang's order of types: numbers, then true, false and null, objects, lists,
 * text. A missing value is 0. `reverse` reverses the sorted list, equal items included. Yields wherever it may pause.
 */
export function* sorted<T>(
  items: readonly T[],
  keysOf: (item: T) => readonly unknown[],
  reverse: boolean,
): Generator<void, T[], void> {
  const keyed: Keyed<T>[] = [];
  for (const item of items) {
    keyed.push({ item, keys: keysOf(item).map(keyOf) });
    if (keyed.length % keysPerStep === 0) yield;
  }
  const inOrder = yield* mergeSorted(keyed);
  if (reverse) inOrder.reverse();
  return inOrder.map(({ item }) => item);
}

/** Merges short sorted runs to longer ones. Equal items keep their order. */
function* mergeSorted<T>(items: readonly Keyed<T>[]): Generator<void, Keyed<T>[], void> {
  let runs: Keyed<T>[][] = [];
  for (let start = 0; start < items.length; start += itemsPerStep) {
    runs.push(items.slice(start, start + itemsPerStep).sort(compareAll));
    yield;
  }
  while (runs.length > 1) {
    const longer: Keyed<T>[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      longer.push(yield* merged(runs[index] as Keyed<T>[], runs[index + 1] ?? []));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

function* merged<T>(one: readonly Keyed<T>[], other: readonly Keyed<T>[]): Generator<void, Keyed<T>[], void> {
  const all: Keyed<T>[] = [];
  let [at, atOther] = [0, 0];
  while (at < one.length && atOther < other.length) {
    const isFirst = compareAll(one[at] as Keyed<T>, other[atOther] as Keyed<T>) <= 0;
    all.push(isFirst ? (one[at++] as Keyed<T>) : (other[atOther++] as Keyed<T>));
    if (all.length % itemsPerStep === 0) yield;
  }
  while (at < one.length) all.push(one[at++] as Keyed<T>);
  while (atOther < other.length) all.push(other[atOther++] as Keyed<T>);
  return all;
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
