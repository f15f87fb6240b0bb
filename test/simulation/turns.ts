/** Rounds of one drain, above which a program counts as one that never rests. */
const mostRounds = 20_000;

/**
 * The event loop of a simulated world. Product code asks for a later turn by `later`; the world runs these callbacks in the order in
 * which they were asked for, and lets all promises and ticks of streams go on in between.
 */
export class Turns {
  #waiting: (() => void)[] = [];

  readonly later = (act: () => void): void => void this.#waiting.push(act);

  /** Runs until there is nothing left that needs no time. @throws Error if that never ends */
  async drain(): Promise<void> {
    for (let round = 0; round < mostRounds; round++) {
      const due = this.#waiting;
      this.#waiting = [];
      for (const act of due) act();
      // A turn of the real event loop begins when all microtasks are done. The simulation does no input or output, so its content is fixed.
      await new Promise(setImmediate);
      if (this.#waiting.length === 0) return;
    }
    throw new Error(`work without an end: ${mostRounds} turns at one instant`);
  }
}
