/** The pause between two batches, in which messages of the first may come back dead: milliseconds. */
const pause = 1_000;

/** The highest rate, in messages a second, at which a breaker sees returning messages in time without batches. */
const fast = 1_000;

/** Limits a redrive to batches, so that its breaker can judge each batch before the next one begins. */
export class Batches {
  #size: number;
  #left: number;
  #opensAt = 0;

  /**
   * @param first messages of the first batch
   * @param pause milliseconds between two batches
   * @param growth the size of a batch as a multiple of the batch before
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

  /** Batches of one size without a pause: they only set when the breaker counts the messages that came back. */
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

  /** Starts again with the size of the first batch. */
  restart(now: number): void {
    this.#size = this.first;
    this.#left = this.first;
    this.#opensAt = now;
  }
}
