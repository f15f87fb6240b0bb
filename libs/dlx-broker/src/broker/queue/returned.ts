import { Deque } from '../deque.js';
import type { Entry } from './entry.js';

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

  each(visit: (entry: Entry) => boolean): void {
    for (const entry of this.#byPosition.toSorted((a, b) => a.position - b.position)) if (!visit(entry)) return;
    this.#inOrder.each(visit);
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
