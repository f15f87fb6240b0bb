import type { Entry } from './queue/entry.js';

/** A page has 2 to the power of this slots. V8 does not copy arrays of this length when they leave the young generation. */
const bits = 14;
const pageSlots = 1 << bits;
const mask = pageSlots - 1;

/**
 * The slots of a long deque, in pages: it grows and shrinks by a page at a time, so no command copies all of them. The slots of the first
 * values are in the first page.
 */
class DequePages<T> {
  readonly #pages: (T | undefined)[][] = [];

  get(slot: number): T | undefined {
    return this.#pages[slot >>> bits]?.[slot & mask];
  }

  /** @param slot one of the slots, or the first one behind them */
  set(slot: number, value: T | undefined): void {
    const index = slot >>> bits;
    if (index === this.#pages.length) this.#pages.push(new Array<T | undefined>(pageSlots));
    (this.#pages[index] as (T | undefined)[])[slot & mask] = value;
  }

  /** Gives up the first page: from now on its second one is the first. */
  dropFirst(): void {
    this.#pages.shift();
  }

  /** Gives up the pages behind these slots. @returns the number of slots that are left */
  keep(slots: number): number {
    this.#pages.length = Math.min(this.#pages.length, (slots + mask) >>> bits);
    return this.#pages.length << bits;
  }
}

/** The fewest values of a ring that is full at its largest: more are kept in pages. */
const longest = pageSlots;
/** Fewer values are kept in a ring again. */
const shortest = pageSlots >> 3;

/**
 * A double-ended queue: push and shift cost the same at any length, unlike `Array.shift`. A short one is a ring buffer, which doubles when it
 * is full. A long one consists of pages, because doubling a ring of millions takes tens of milliseconds.
 */
export class Deque<T> {
  #slots: (T | undefined)[] = new Array<T | undefined>(8);
  #head = 0;
  /** The values of a long deque. Then the ring has one slot, which is empty: short deques need no test for pages. */
  #pages: DequePages<T> | undefined;
  /** The slot of the first value in the pages. */
  #first = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: T): void {
    if (this.#length >= this.#slots.length && this.#pushedLong(value)) return;
    this.#slots[(this.#head + this.#length) & (this.#slots.length - 1)] = value;
    this.#length++;
  }

  first(): T | undefined {
    return this.#slots[this.#head] ?? this.#pages?.get(this.#first);
  }

  /** The value `index` places behind the first; undefined where there is none. */
  at(index: number): T | undefined {
    return index >= 0 && index < this.#length ? this.#get(index) : undefined;
  }

  /** Puts a value in the place of the one `index` places behind the first. */
  replace(index: number, value: T): void {
    this.#set(index, value);
  }

  shift(): T | undefined {
    const value = this.#slots[this.#head];
    if (value === undefined && this.#pages !== undefined) return this.#shiftLong(this.#pages);
    if (this.#length === 0) return undefined;
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.#length--;
    if (this.#length < this.#slots.length >> 3 && this.#slots.length > 64) this.#resize(this.#slots.length >> 1);
    return value;
  }

  clear(): void {
    this.#length = 0;
    this.#resize(8);
  }

  /** Removes the value `index` places behind the first; the values on its shorter side move. */
  removeAt(index: number): void {
    if (index < this.#length >> 1) {
      for (let place = index; place > 0; place--) this.#set(place, this.#get(place - 1));
      this.shift();
      return;
    }
    for (let place = index + 1; place < this.#length; place++) this.#set(place - 1, this.#get(place));
    this.#cut(this.#length - 1);
  }

  /** Removes the first `count` values and returns them in order. Copies only the shorter part. */
  takeFirst(count: number): Deque<T> {
    const other = new Deque<T>();
    if (count <= this.#length >> 1) {
      for (let left = count; left > 0; left--) other.push(this.shift() as T);
      return other;
    }
    const rest = new Deque<T>();
    for (let index = count; index < this.#length; index++) rest.push(this.#get(index) as T);
    const taken = Math.min(count, this.#length);
    this.#cut(taken);
    other.#become(this);
    this.#become(rest);
    return other;
  }

  /** Calls `visit` from the first, or the one `from` places behind it, to the last; false ends it. */
  each(visit: (value: T) => boolean | void, from = 0): void {
    for (let index = from; index < this.#length; index++) if (visit(this.#get(index) as T) === false) return;
  }

  /** Keeps the values for which `wanted` returns true, in order. */
  filter(wanted: (value: T) => boolean): void {
    let kept = 0;
    for (let index = 0; index < this.#length; index++) {
      const value = this.#get(index) as T;
      if (wanted(value)) this.#set(kept++, value);
    }
    this.#cut(kept);
  }

  #get(index: number): T | undefined {
    return this.#slots[(this.#head + index) & (this.#slots.length - 1)] ?? this.#pages?.get(this.#first + index);
  }

  #set(index: number, value: T | undefined): void {
    if (this.#pages === undefined) this.#slots[(this.#head + index) & (this.#slots.length - 1)] = value;
    else this.#pages.set(this.#first + index, value);
  }

  /** Keeps the first values. */
  #cut(length: number): void {
    const end = this.#pages === undefined ? this.#length : this.#pages.keep(this.#first + length) - this.#first;
    for (let index = length; index < Math.min(end, this.#length); index++) this.#set(index, undefined);
    this.#length = length;
    if (this.#pages !== undefined && length < shortest) this.#resize(2 * shortest);
  }

  #become(other: Deque<T>): void {
    [this.#slots, this.#head, this.#length] = [other.#slots, other.#head, other.#length];
    [this.#pages, this.#first] = [other.#pages, other.#first];
  }

  /** Adds a value to the pages, if there are any or the ring is full at its largest. @returns false when the ring has become larger */
  #pushedLong(value: T): boolean {
    if (this.#pages === undefined && this.#length < longest) {
      this.#resize(this.#length * 2);
      return false;
    }
    this.#pages ??= this.#inPages();
    this.#pages.set(this.#first + this.#length++, value);
    return true;
  }

  /** Moves the values of the ring into pages. */
  #inPages(): DequePages<T> {
    const pages = new DequePages<T>();
    for (let index = 0; index < this.#length; index++) pages.set(index, this.#get(index));
    this.#slots = [undefined];
    this.#head = 0;
    this.#first = 0;
    return pages;
  }

  #shiftLong(pages: DequePages<T>): T | undefined {
    const value = pages.get(this.#first);
    pages.set(this.#first++, undefined);
    if (this.#first === pageSlots) {
      pages.dropFirst();
      this.#first = 0;
    }
    if (--this.#length < shortest) this.#resize(2 * shortest);
    return value;
  }

  /** Makes a ring of this many slots. */
  #resize(capacity: number): void {
    const slots = new Array<T | undefined>(capacity);
    for (let index = 0; index < this.#length; index++) slots[index] = this.#get(index);
    this.#slots = slots;
    this.#head = 0;
    this.#pages = undefined;
  }
}

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
