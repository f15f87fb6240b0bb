import type { Message } from '../../message/index.js';
import { Entry } from '../queue/entry.js';

/** A message an exchange holds back. */
export class Held extends Entry {
  /** Its place in the heap, -1 when it has left. Only {@link DueHeap} writes it. */
  slot = -1;

  constructor(
    message: Message,
    position: number,
    /** When it goes on, in milliseconds since 1970. */
    readonly time: number,
  ) {
    super(message, position, 0);
  }

  override get due(): number {
    return this.time;
  }
}

/** Of two that are due together the one that came first goes first. */
const isBefore = (one: Held, other: Held): boolean =>
  one.time < other.time || (one.time === other.time && one.position < other.position);

/** All that an exchange holds back, what is due next at hand: a binary heap, so that no delay waits for another. */
export class DueHeap {
  #heap: Held[] = [];

  get length(): number {
    return this.#heap.length;
  }

  first(): Held | undefined {
    return this.#heap[0];
  }

  push(held: Held): void {
    this.#heap.push(held);
    this.#up(held, this.#heap.length - 1);
  }

  remove(held: Held): void {
    const { slot } = held;
    held.slot = -1;
    const last = this.#heap.pop() as Held;
    if (last === held) return;
    if (isBefore(last, held)) this.#up(last, slot);
    else this.#down(last, slot);
  }

  /** In no order. */
  each(visit: (held: Held) => void): void {
    this.#heap.forEach(visit);
  }

  clear(): void {
    this.#heap = [];
  }

  #up(held: Held, from: number): void {
    let slot = from;
    while (slot > 0) {
      const parentSlot = (slot - 1) >> 1;
      const parent = this.#heap[parentSlot] as Held;
      if (isBefore(parent, held)) break;
      this.#place(parent, slot);
      slot = parentSlot;
    }
    this.#place(held, slot);
  }

  #down(held: Held, from: number): void {
    let slot = from;
    for (;;) {
      let childSlot = slot * 2 + 1;
      if (childSlot >= this.#heap.length) break;
      let child = this.#heap[childSlot] as Held;
      const right = this.#heap[childSlot + 1];
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        childSlot++;
      }
      if (isBefore(held, child)) break;
      this.#place(child, slot);
      slot = childSlot;
    }
    this.#place(held, slot);
  }

  #place(held: Held, slot: number): void {
    this.#heap[slot] = held;
    held.slot = slot;
  }
}
