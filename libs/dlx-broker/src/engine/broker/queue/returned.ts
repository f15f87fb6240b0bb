import { countUpTo, Deque } from '../deque.js';
import type { Entry } from './entry.js';

/** A binary heap of entries, the lowest position first. */
class PositionHeap {
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

/**
 * Returned messages, which stand before all that were never delivered. A classic queue orders them by position, however they return
 * (rule J2), a quorum queue with a limit by the order of their return (rule D5).
 */
export class Returned {
  /** Messages that returned after a message with a higher position, and are not merged into the line yet. */
  readonly #heap = new PositionHeap();
  /**
   * Messages by position: those that returned in this order, as the messages of one settlement do, and those merged from
   * the heap.
   */
  #line = new Deque<Entry>();
  /** Messages of a quorum queue, in the order of their return. */
  readonly #byReturn = new Deque<Entry>();

  get length(): number {
    return this.#heap.length + this.#line.length + this.#byReturn.length;
  }

  add(entry: Entry, to: 'original' | 'front'): void {
    if (to === 'front') return this.#byReturn.push(entry);
    const last = this.#line.at(this.#line.length - 1);
    if (last === undefined || last.position < entry.position) this.#line.push(entry);
    else this.#heap.push(entry);
  }

  first(): Entry | undefined {
    return this.#isNextInHeap() ? this.#heap.first() : (this.#line.first() ?? this.#byReturn.first());
  }

  shift(): Entry | undefined {
    return this.#isNextInHeap() ? this.#heap.pop() : (this.#line.shift() ?? this.#byReturn.shift());
  }

  /**
   * @param after visits only messages behind this position; all messages of a quorum queue if the message of this position is
   *   gone
   */
  each(visit: (entry: Entry) => boolean, after?: number): void {
    this.#mergeHeap();
    let going = true;
    this.#line.each((entry) => (going = visit(entry)), after === undefined ? 0 : countUpTo(this.#line, after));
    if (going) this.#byReturn.each(visit, after === undefined ? 0 : this.#indexOf(after) + 1);
  }

  find(position: number): Entry | undefined {
    this.#mergeHeap();
    const entry = this.#line.at(countUpTo(this.#line, position) - 1);
    if (entry?.position === position) return entry;
    const index = this.#indexOf(position);
    return index < 0 ? undefined : this.#byReturn.at(index);
  }

  /** Takes out an entry that is in this list. */
  remove(entry: Entry): void {
    this.#mergeHeap();
    const index = countUpTo(this.#line, entry.position) - 1;
    if (this.#line.at(index) === entry) this.#line.removeAt(index);
    else this.#byReturn.removeAt(this.#indexOf(entry.position));
  }

  #isNextInHeap(): boolean {
    const next = this.#heap.first();
    if (next === undefined) return false;
    const inLine = this.#line.first();
    return inLine === undefined || next.position < inLine.position;
  }

  /** Merges the heap into the line. */
  #mergeHeap(): void {
    if (this.#heap.length === 0) return;
    const before = this.#line;
    const line = new Deque<Entry>();
    for (const entry of this.#heap.takeAll()) {
      for (let next = before.first(); next !== undefined && next.position < entry.position; next = before.first()) {
        line.push(before.shift() as Entry);
      }
      line.push(entry);
    }
    before.each((entry) => line.push(entry));
    this.#line = line;
  }

  #indexOf(position: number): number {
    let index = -1;
    let found = -1;
    this.#byReturn.each((entry) => {
      index++;
      if (entry.position !== position) return true;
      found = index;
      return false;
    });
    return found;
  }
}
