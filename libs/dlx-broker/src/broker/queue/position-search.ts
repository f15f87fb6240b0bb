import type { Deque } from '../deque.js';
import type { Entry } from './entry.js';

/** How many of a line that stands in the order of the positions stand up to this one, which need not be in it. */
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
