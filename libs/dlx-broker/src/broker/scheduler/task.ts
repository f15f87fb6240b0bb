/** Work of one command that may be long: a settlement of many deliveries, the end of a channel. */
export interface Task {
  /**
   * Goes on where it stopped.
   * @param limit steps at most
   * @returns steps taken; fewer than the limit when it is done
   */
  work(now: number, limit: number): number;
}

/** A task that goes on by one with each step. */
export const inSteps = (work: Iterator<void, undefined>): Task => ({
  work: (_now, limit) => {
    for (let steps = 0; steps < limit; steps++) if (work.next().done === true) return steps;
    return limit;
  },
});
