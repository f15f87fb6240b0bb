/** A page has 2 to the power of this slots. V8 does not copy arrays of this length when they leave the young generation. */
const bits = 14;
export const pageSlots = 1 << bits;
const mask = pageSlots - 1;

/**
 * The slots of a long deque, in pages: it grows and shrinks by a page at a time, so no command copies all of them. The slots of the first
 * values are in the first page.
 */
export class DequePages<T> {
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
