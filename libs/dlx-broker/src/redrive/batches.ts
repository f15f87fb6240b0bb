/** Milliseconds that the messages of a batch have to come back before the next batch begins. */
const pause = 1_000;

/** Messages a second up to which returning messages are seen in time, and a circuit needs no batches. */
const fast = 1_000;

/** Limits a redrive to batches, so that its circuit can judge each batch before the next one begins. */
export class Batches {
  #size: number;
  #left: number;
  #opensAt = 0;

  /**
   * @param first messages of the first batch
   * @param pause milliseconds between two batches
   * @param growth each batch is so many times as large as the one before
   */
  private constructor(
    readonly first: number,
    readonly pause: number,
    readonly growth: number,
  ) {
    this.#size = first;
    this.#left = first;
  }

  /**
   * Batches for a redrive that is faster than its messages can come back: a pause of a second after each, then twice the size.
   * @returns undefined for a rate (messages a second) that needs none
   */
  static for(rate: number, first: number): Batches | undefined {
    return rate > fast ? new Batches(first, pause, 2) : undefined;
  }

  /** Batches of one size without a pause: they only say when to look at what came back. */
  static steady(size: number): Batches {
    return new Batches(size, 0, 1);
  }

  /** Messages that may go now. */
  allowed(now: number): number {
    return now >= this.#opensAt ? this.#left : 0;
  }

  /** @returns true when these messages ended a batch */
  spend(count: number, now: number): boolean {
    this.#left -= count;
    if (this.#left > 0) return false;
    this.#opensAt = now + this.pause;
    this.#size *= this.growth;
    this.#left = this.#size;
    return true;
  }

  /** When messages may go again; a time in the past when they may go now. */
  get next(): number {
    return this.#opensAt;
  }

  /** Begins with a first batch again. */
  restart(now: number): void {
    this.#size = this.first;
    this.#left = this.first;
    this.#opensAt = now;
  }
}
