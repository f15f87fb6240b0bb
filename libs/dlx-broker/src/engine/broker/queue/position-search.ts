import type { Deque } from '../deque.js';
import type { Entry } from './entry.js';

/**
 * Binary search: the first index for which a condition does not hold; `end` if it holds for all.
 * @param holds true for all indexes up to the searched one, and false from there on
 */
export function firstWhereNot(start: number, end: number, holds: (index: number) => boolean): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The number of entries up to a position, in a deque that is sorted by position. No entry need have this position. */
export const countUpTo = (line: Deque<Entry>, position: number): number =>
  firstWhereNot(0, line.length, (index) => (line.at(index) as Entry).position <= position);
