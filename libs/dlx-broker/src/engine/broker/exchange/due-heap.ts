import type { Message } from '../../message/index.js';
import { Entry } from '../queue/entry.js';

/** A message that a delayed exchange has not released. */
export class DelayedEntry extends Entry {
  /** Only {@link DueHeap} writes it. */
  isCancelled = false;

  constructor(
    message: Message,
    position: number,
    /** When it is released, in milliseconds since 1970. */
    readonly time: number,
  ) {
    super(message, position, 0);
  }

  override get due(): number {
    return this.time;
  }
}

/** Children of a node: a wide heap has fewer levels, and touches less memory. */
const children = 4;

/** The initial capacity. */
const minCapacity = 64;

/**
 * The delayed messages of an exchange, in a heap by due time. A node has its time in one typed array and, in another one, the slot of
 * its entry in the array of entries. An entry keeps its slot while nodes move.
 */
export class DueHeap {
  #times = new Float64Array(minCapacity);
  /** The slots of the nodes, and behind them the free slots. */
  #slots = new Uint32Array(minCapacity);
  #entries: (DelayedEntry | undefined)[] = [];
  #size = 0;
  #cancelled = 0;

  get length(): number {
    return this.#size - this.#cancelled;
  }

  first(): DelayedEntry | undefined {
    if (this.#size === 0) return undefined;
    let first = this.#at(0);
    while (first.isCancelled) {
      this.#cancelled--;
      this.shift();
      if (this.#size === 0) return undefined;
      first = this.#at(0);
    }
    return first;
  }

  push(entry: DelayedEntry): void {
    const place = this.#size++;
    if (place === this.#times.length) this.#grow();
    const slot = place < this.#entries.length ? (this.#slots[place] as number) : this.#entries.length;
    this.#entries[slot] = entry;
    this.#up(entry, slot, place);
  }

  /** Removes the first entry. */
  shift(): void {
    const free = this.#slots[0] as number;
    this.#entries[free] = undefined;
    const last = --this.#size;
    const slot = this.#slots[last] as number;
    this.#slots[last] = free;
    if (last > 0) this.#down(slot, this.#times[last] as number);
    else if (this.#entries.length > minCapacity) this.clear();
  }

  /**
   * Marks an entry as cancelled. It is removed when it becomes the first, or when more than half of the entries are cancelled, so no
   * entry has to know its place.
   */
  cancel(entry: DelayedEntry): void {
    entry.isCancelled = true;
    this.#cancelled++;
    if (this.#cancelled * 2 > this.#size) this.#sweep();
  }

  /** Visits all entries, in no order. */
  each(visit: (entry: DelayedEntry) => void): void {
    for (const entry of this.#entries) if (entry !== undefined && !entry.isCancelled) visit(entry);
  }

  clear(): void {
    this.#entries = [];
    this.#size = 0;
    this.#cancelled = 0;
    this.#times = new Float64Array(minCapacity);
    this.#slots = new Uint32Array(minCapacity);
  }

  #sweep(): void {
    const left: DelayedEntry[] = [];
    this.each((entry) => void left.push(entry));
    this.clear();
    for (const entry of left) this.push(entry);
  }

  #grow(): void {
    const times = new Float64Array(this.#times.length * 2);
    times.set(this.#times);
    this.#times = times;
    const slots = new Uint32Array(this.#slots.length * 2);
    slots.set(this.#slots);
    this.#slots = slots;
  }

  #at(place: number): DelayedEntry {
    return this.#entries[this.#slots[place] as number] as DelayedEntry;
  }

  #up({ time, position }: DelayedEntry, slot: number, from: number): void {
    const times = this.#times;
    const slots = this.#slots;
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 2;
      const other = times[parent] as number;
      if (other < time || (other === time && this.#at(parent).position < position)) break;
      times[place] = other;
      slots[place] = slots[parent] as number;
      place = parent;
    }
    times[place] = time;
    slots[place] = slot;
  }

  #down(slot: number, time: number): void {
    const times = this.#times;
    const slots = this.#slots;
    const size = this.#size;
    let place = 0;
    for (;;) {
      const firstChild = place * children + 1;
      if (firstChild >= size) break;
      const end = Math.min(firstChild + children, size);
      let next = firstChild;
      let nextTime = times[firstChild] as number;
      for (let child = firstChild + 1; child < end; child++) {
        const other = times[child] as number;
        if (other > nextTime || (other === nextTime && this.#isBehind(slots[child] as number, slots[next] as number)))
          continue;
        next = child;
        nextTime = other;
      }
      if (time < nextTime || (time === nextTime && !this.#isBehind(slot, slots[next] as number))) break;
      times[place] = nextTime;
      slots[place] = slots[next] as number;
      place = next;
    }
    times[place] = time;
    slots[place] = slot;
  }

  /** Whether, of two entries with the same time, the first arrived later. */
  #isBehind(slot: number, other: number): boolean {
    return (this.#entries[slot] as DelayedEntry).position > (this.#entries[other] as DelayedEntry).position;
  }
}
