import type { Entry } from './entry.js';

/** A binary heap of entries, the lowest position first. */
export class PositionHeap {
  readonly #heap: Entry[] = [];

  get length(): number {
    return this.#heap.length;
  }

  first(): Entry | undefined {
    return this.#heap[0];
  }

  push(entry: Entry): void {
    const heap = this.#heap;
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

  pop(): Entry | undefined {
    const heap = this.#heap;
    const first = heap[0];
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

  /** Takes out all, by position. */
  takeAll(): readonly Entry[] {
    return this.#heap.splice(0).sort((one, other) => one.position - other.position);
  }
}
