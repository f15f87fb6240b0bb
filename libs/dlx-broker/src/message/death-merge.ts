import type { Field } from './field-table.js';

/**
 * Entries of one (queue, reason) pair become one. The broker never writes two; clients that forge or copy headers do
 * (rule H10): the first of a pair stays, and if it has no count, their number is the count.
 * @returns the same array when there is nothing to merge; undefined when an element is no table (rule V5)
 */
export function mergeDeaths(deaths: readonly Field[]): readonly Field[] | undefined {
  if (deaths.length < 2) return deaths[0] === undefined || deaths[0].type === 'F' ? deaths : undefined;
  for (const death of deaths) if (death.type !== 'F') return undefined;
  return isMerged(deaths) ? deaths : merge(deaths);
}

/**
 * The usual case, decided without allocating. Long arrays are always merged, so that no client can make this quadratic.
 */
function isMerged(deaths: readonly Field[]): boolean {
  if (deaths.length > 16) return false;
  for (let later = 0; later < deaths.length; later++) {
    const entry = deaths[later]!;
    if (entry.type !== 'F' || !entry.value.has('count')) return false;
    const queue = entry.value.get('queue')?.value;
    const reason = entry.value.get('reason')?.value;
    for (let earlier = 0; earlier < later; earlier++) {
      const other = deaths[earlier]!;
      if (other.type !== 'F') return false;
      if (other.value.get('queue')?.value === queue && other.value.get('reason')?.value === reason) return false;
    }
  }
  return true;
}

function merge(deaths: readonly Field[]): readonly Field[] {
  const positions = new Map<unknown, Map<unknown, number>>();
  const merged: Field[] = [];
  const copies: number[] = [];
  for (const death of deaths) {
    if (death.type !== 'F') continue;
    const queue = death.value.get('queue')?.value;
    const reason = death.value.get('reason')?.value;
    let byReason = positions.get(queue);
    if (byReason === undefined) positions.set(queue, (byReason = new Map()));
    const position = byReason.get(reason);
    if (position === undefined) {
      byReason.set(reason, merged.length);
      merged.push(death);
      copies.push(1);
    } else {
      copies[position]!++;
    }
  }
  return merged.map((death, position) => withCount(death, copies[position]!));
}

function withCount(death: Field, copies: number): Field {
  if (death.type !== 'F' || death.value.has('count')) return death;
  return { type: 'F', value: new Map(death.value).set('count', { type: 'l', value: copies }) };
}
