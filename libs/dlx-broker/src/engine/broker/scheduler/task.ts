/** Work of one command that may be long: a settlement of many deliveries, the end of a channel. */
export interface Task {
  /**
   * Continues where the task stopped.
   * @param limit steps at most
   * @returns steps taken; fewer than the limit when it is done
   */
  work(now: number, limit: number): number;
}

/** A task of which each step is one step of an iterator. */
export const inSteps = (work: Iterator<void, undefined>): Task => ({
  work: (_now, limit) => {
    for (let steps = 0; steps < limit; steps++) if (work.next().done === true) return steps;
    return limit;
  },
});
