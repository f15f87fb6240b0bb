import type { Deque } from '../deque.js';
import type { Entry } from './entry.js';

/** The number of entries up to a position, in a deque that is sorted by position. No entry need have this position. */
export function countUpTo(line: Deque<Entry>, position: number): number {
  let low = 0;
  let high = line.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((line.at(middle) as Entry).position <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
