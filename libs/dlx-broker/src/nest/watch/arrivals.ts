const minute = 60_000;

/** The messages that came into a queue in the last minute, from counts that only grow. */
export class Arrivals {
  /** At most one for each look of the last minute, the oldest first. */
  readonly #samples: { readonly at: number; readonly total: number }[] = [];

  /**
   * @param total the messages that came in so far
   * @returns those of the last minute
   */
  add(total: number, now: number): number {
    const samples = this.#samples;
    const last = samples.at(-1);
    // The queue was deleted and declared again, or the clock was set back.
    if (last !== undefined && (total < last.total || now < last.at)) samples.length = 0;
    samples.push({ at: now, total });
    while (samples.length > 1 && now - samples[0]!.at > minute) samples.shift();
    return total - samples[0]!.total;
  }
}
