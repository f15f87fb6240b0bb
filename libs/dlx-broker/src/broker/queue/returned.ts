import { Deque } from '../deque.js';
import type { Entry } from './entry.js';

const byPosition = (one: Entry, other: Entry): number => one.position - other.position;

/**
 * Messages that came back, before all that never left. Those of a classic queue stand by position in a heap (rule J2:
 * original order in whatever order they return), those of a quorum queue with a limit in the order of their return
 * (rule D5).
 */
export class Returned {
  readonly #byPosition: Entry[] = [];
  readonly #inOrder = new Deque<Entry>();

  get length(): number {
    return this.#byPosition.length + this.#inOrder.length;
  }

  add(entry: Entry, to: 'original' | 'front'): void {
    if (to === 'front') this.#inOrder.push(entry);
    else this.#push(entry);
  }

  first(): Entry | undefined {
    return this.#byPosition[0] ?? this.#inOrder.first();
  }

  shift(): Entry | undefined {
    return this.#byPosition.length > 0 ? this.#pop() : this.#inOrder.shift();
  }

  /** @param after only those behind the one of this position, or all if it is gone and they have no order */
  each(visit: (entry: Entry) => boolean, after?: number): void {
    this.#byPosition.sort(byPosition); // what is sorted is a heap, and soon sorted again
    for (const entry of this.#byPosition) {
      if ((after === undefined || entry.position > after) && !visit(entry)) return;
    }
    this.#inOrder.each(visit, after === undefined ? 0 : this.#indexOf(after) + 1);
  }

  find(position: number): Entry | undefined {
    const returned = this.#byPosition.find((entry) => entry.position === position);
    if (returned !== undefined) return returned;
    const index = this.#indexOf(position);
    return index < 0 ? undefined : this.#inOrder.at(index);
  }

  /** Takes out one that is there. */
  remove(entry: Entry): void {
    const index = this.#byPosition.indexOf(entry);
    if (index < 0) return this.#inOrder.removeAt(this.#indexOf(entry.position));
    this.#byPosition.splice(index, 1);
    this.#byPosition.sort(byPosition);
  }

  #indexOf(position: number): number {
    let index = -1;
    let found = -1;
    this.#inOrder.each((entry) => {
      index++;
      if (entry.position !== position) return true;
      found = index;
      return false;
    });
    return found;
  }

  #push(entry: Entry): void {
    const heap = this.#byPosition;
    let slot = heap.length;
    heap.push(entry);
    while (slot > 0) {
      const parentSlot = (slot - 1) >> 1;
      const parent = heap[parentSlot] as Entry;
      if (parent.position <= entry.position) break;
      heap[slot] = parent;
      slot = parentSlot;
    }
    heap[slot] = entry;
  }

  #pop(): Entry {
    const heap = this.#byPosition;
    const first = heap[0] as Entry;
    const last = heap.pop() as Entry;
    if (heap.length === 0) return first;
    let slot = 0;
    for (;;) {
      let childSlot = slot * 2 + 1;
      if (childSlot >= heap.length) break;
      const right = heap[childSlot + 1];
      if (right !== undefined && right.position < (heap[childSlot] as Entry).position) childSlot++;
      const child = heap[childSlot] as Entry;
      if (child.position >= last.position) break;
      heap[slot] = child;
      slot = childSlot;
    }
    heap[slot] = last;
    return first;
  }
}
