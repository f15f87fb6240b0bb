import type { Message } from '../../message/index.js';
import { Entry } from '../queue/entry.js';

/** A message an exchange holds back. */
export class Held extends Entry {
  /** Only {@link DueHeap} writes it. */
  isCancelled = false;

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

/** How many children a place in the heap has: the fewer levels, the fewer places of memory are touched. */
const children = 4;

/**
 * All that an exchange holds back, what is due next at hand: a heap, so that no delay waits for another. The times stand
 * beside one another, for most comparisons need nothing else.
 */
export class DueHeap {
  #heap: Held[] = [];
  #times = new Float64Array(64);
  #cancelled = 0;

  get length(): number {
    return this.#heap.length - this.#cancelled;
  }

  first(): Held | undefined {
    while (this.#heap[0]?.isCancelled === true) {
      this.#cancelled--;
      this.shift();
    }
    return this.#heap[0];
  }

  push(held: Held): void {
    const slot = this.#heap.length;
    if (slot === this.#times.length) {
      const longer = new Float64Array(slot * 2);
      longer.set(this.#times);
      this.#times = longer;
    }
    this.#heap.push(held);
    this.#up(held, slot);
  }

  /** Takes out the first. */
  shift(): void {
    const last = this.#heap.pop() as Held;
    if (this.#heap.length > 0) this.#down(last);
  }

  /** It stays in its place until it is the first, or until more than half are like it: nothing need know its place. */
  cancel(held: Held): void {
    held.isCancelled = true;
    this.#cancelled++;
    if (this.#cancelled * 2 > this.#heap.length) this.#sweep();
  }

  /** In no order. */
  each(visit: (held: Held) => void): void {
    for (const held of this.#heap) if (!held.isCancelled) visit(held);
  }

  clear(): void {
    this.#heap = [];
    this.#cancelled = 0;
    this.#times = new Float64Array(64);
  }

  #sweep(): void {
    const left = this.#heap.filter(({ isCancelled }) => !isCancelled);
    this.clear();
    for (const held of left) this.push(held);
  }

  #up(held: Held, from: number): void {
    let slot = from;
    while (slot > 0) {
      const parent = (slot - 1) >> 2;
      if (!this.#isBefore(held, parent)) break;
      this.#move(parent, slot);
      slot = parent;
    }
    this.#place(held, slot);
  }

  #down(held: Held): void {
    const { length } = this.#heap;
    let slot = 0;
    for (;;) {
      let least = slot * children + 1;
      if (least >= length) break;
      const end = Math.min(least + children, length);
      for (let child = least + 1; child < end; child++) if (this.#isLess(child, least)) least = child;
      if (this.#isBefore(held, least)) break;
      this.#move(least, slot);
      slot = least;
    }
    this.#place(held, slot);
  }

  /** Of two that are due together the one that came first goes first. */
  #isBefore(held: Held, slot: number): boolean {
    const time = this.#times[slot] as number;
    return held.time < time || (held.time === time && held.position < (this.#heap[slot] as Held).position);
  }

  #isLess(one: number, other: number): boolean {
    const time = this.#times[one] as number;
    const otherTime = this.#times[other] as number;
    if (time !== otherTime) return time < otherTime;
    return (this.#heap[one] as Held).position < (this.#heap[other] as Held).position;
  }

  #place(held: Held, slot: number): void {
    this.#heap[slot] = held;
    this.#times[slot] = held.time;
  }

  #move(from: number, to: number): void {
    this.#heap[to] = this.#heap[from] as Held;
    this.#times[to] = this.#times[from] as number;
  }
}
