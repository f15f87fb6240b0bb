/**
 * Sorts by several keys of each item, in Erlang's order of kinds: numbers, then true, false and null, objects, lists,
 * text. What is not there is nothing, 0. Reversed means as a whole, equal ones too.
 */
export function sorted<T>(items: readonly T[], keysOf: (item: T) => readonly unknown[], reverse: boolean): T[] {
  const keyed = items.map((item) => ({ item, keys: keysOf(item) }));
  keyed.sort((one, other) => compareAll(one.keys, other.keys));
  if (reverse) keyed.reverse();
  return keyed.map(({ item }) => item);
}

function compareAll(one: readonly unknown[], other: readonly unknown[]): number {
  for (let index = 0; index < one.length; index++) {
    const order = compare(orNothing(one[index]), orNothing(other[index]));
    if (order !== 0) return order;
  }
  return 0;
}

const orNothing = (value: unknown): unknown => (value === undefined ? 0 : value);

function compare(one: unknown, other: unknown): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  const ranks = rank(one) - rank(other);
  if (ranks !== 0) return ranks;
  const [a, b] = typeof one === 'object' ? [JSON.stringify(one), JSON.stringify(other)] : [String(one), String(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function rank(value: unknown): number {
  if (typeof value === 'number') return 0;
  if (typeof value === 'boolean' || value === null) return 1;
  if (typeof value === 'object') return Array.isArray(value) ? 3 : 2;
  return 4;
}
