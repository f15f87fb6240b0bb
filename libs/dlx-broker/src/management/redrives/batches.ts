/** Milliseconds that the messages of a batch have to come back before the next one goes. */
const pause = 1_000;

/** Messages a second up to which what comes back is seen in time, and a circuit needs no batches. */
const fast = 1_000;

/**
 * Holds back what goes faster than its failures can come back: after a first batch it waits until the circuit has looked,
 * then lets as many go as went before, twice as many each time.
 */
export class Batches {
  #size: number;
  #left: number;
  #opensAt = 0;

  /** @param first messages of the first batch */
  constructor(readonly first: number) {
    this.#size = first;
    this.#left = first;
  }

  static for(rate: number, first: number): Batches | undefined {
    return rate > fast ? new Batches(first) : undefined;
  }

  /** Messages that may go now. */
  allowed(now: number): number {
    return now >= this.#opensAt ? this.#left : 0;
  }

  spend(count: number, now: number): void {
    this.#left -= count;
    if (this.#left > 0) return;
    this.#opensAt = now + pause;
    this.#size *= 2;
    this.#left = this.#size;
  }

  /** When messages may go again; the past when they may now. */
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
