/** What waits in a {@link Batch}. */
export interface InBatch {
  /** Its index in its batch, -1 while it is in none. Only {@link Batch} writes it. */
  slot: number;
}

/**
 * Items that wait for the end of a tick or of a turn, most of which leave before. All share one callback: a callback of its
 * own for each item would keep the item in memory until then, also after it has left. Such memory outlives a collection
 * of the young, and is then freed by a full one only.
 */
export class Batch<T extends InBatch> {
  /** An array and no Map: the tables that a Map has outgrown keep their items alive until a full collection. */
  readonly #items: T[] = [];
  #isScheduled = false;

  /**
   * @param schedule has a function called at the end of the tick or turn
   * @param due gets each item that is still there by then, or has left since the first one was due
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

  /** The item is not due any more. It need not be there. */
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
      while (next < items.length) this.add(items[next++]!); // one has thrown: the others are due later
    }
  }
}
