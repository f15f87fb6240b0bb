/** An item of a {@link Batch}. */
export interface InBatch {
  /** Its index in its batch, -1 while it is in none. Only {@link Batch} writes it. */
  slot: number;
}

/**
 * Items that wait for the end of a tick or of a turn. Most of them leave before. All items share one callback: a callback for each
 * item would keep the item in memory until then, also after it has left. Such memory survives a minor garbage collection, and
 * only a full collection frees it.
 */
export class Batch<T extends InBatch> {
  /** An array and no Map: the former tables of a growing Map keep their items in memory until a full collection. */
  readonly #items: T[] = [];
  #isScheduled = false;

  /**
   * @param schedule calls a function at the end of the tick or turn
   * @param due gets each item that is still in the batch then, or has left since the first item was due
   */
  constructor(
    private readonly schedule: (run: () => void) => void,
    private readonly due: (item: T) => void,
  ) {}

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    item.slot = this.#items.push(item) - 1;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.schedule(() => this.#run());
  }

  /** Removes an item. No effect on an item that is not in the batch. */
  leave(item: T): void {
    if (item.slot < 0) return;
    const last = this.#items.pop()!;
    if (last !== item) {
      this.#items[item.slot] = last;
      last.slot = item.slot;
    }
    item.slot = -1;
  }

  #run(): void {
    this.#isScheduled = false;
    const items = this.#items.splice(0);
    for (const item of items) item.slot = -1;
    let next = 0;
    try {
      while (next < items.length) this.due(items[next++]!);
    } finally {
      while (next < items.length) this.add(items[next++]!); // `due` has thrown: the other items are due later
    }
  }
}
