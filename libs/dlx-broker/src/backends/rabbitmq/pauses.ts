/** Pauses that double from the first to the longest. */
export class Pauses {
  #next: number;

  /**
   * @param first milliseconds
   * @param longest milliseconds
   * @param random 0 up to but not including 1. Each pause is between half of its length and all of it, so that clients which lost
   *   their connections together do not reconnect together
   */
  constructor(
    private readonly first: number,
    private readonly longest: number,
    private readonly random: () => number,
  ) {
    this.#next = first;
  }

  /** @returns whole milliseconds */
  next(): number {
    const pause = this.#next;
    this.#next = Math.min(this.longest, pause * 2);
    return Math.ceil(pause * (0.5 + this.random() / 2));
  }

  /** It succeeded: the next pause is the first again. */
  reset(): void {
    this.#next = this.first;
  }
}
