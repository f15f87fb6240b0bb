import type { Breaker } from './redrive.js';

/** Judges each batch by itself: the messages redriven, and the messages that came back, since the last call of `isOpen`. */
export class BatchBreaker implements Breaker {
  #redriven = 0;
  #back = 0;

  /**
   * @param share of the redriven messages, the share that may not come back
   * @param pause milliseconds after which the redrive continues by itself
   */
  constructor(
    readonly share: number,
    readonly pause: number,
  ) {}

  redriven(): void {
    this.#redriven++;
  }

  cameBack(_now: number, count: number): void {
    this.#back += count;
  }

  /** Each call judges a batch and forgets it. */
  isOpen(): boolean {
    const isOpen = this.#back >= this.#redriven * this.share;
    this.#redriven = 0;
    this.#back = 0;
    return isOpen;
  }
}
