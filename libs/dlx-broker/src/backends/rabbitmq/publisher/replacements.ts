/**
 * Milliseconds of nacks after which a channel is replaced. A channel that was opened while the leader of a queue was down may never
 * recover.
 */
const replaceAfter = 1_000;

/** The same for the next channel, in milliseconds. It may have been opened too early as well. */
const replaceAgainAfter = 500;

/** After this many replacements the pause between two of them doubles. */
const quick = 3;

/** The longest pause between two replacements for nacks, in milliseconds. */
const longestPause = 16_000;

/** Half the time without a replacement after which channels may be replaced quickly again, in milliseconds. */
const calm = 5_000;

/** Decides how often a channel that only refuses is replaced. */
export class Replacements {
  #pause = replaceAgainAfter;
  #count = 0;
  #replacedAt = -Infinity;

  /**
   * Counts a replacement if it is due.
   * @param refusingSince the time of the first nack of the channel, in milliseconds since 1970
   */
  isDue(refusingSince: number, now: number): boolean {
    const since = now - this.#replacedAt;
    // Twice the pause without a replacement: the trouble was over meanwhile, and this is another one.
    if (since > 2 * Math.max(this.#pause, calm)) {
      this.#pause = replaceAgainAfter;
      this.#count = 0;
    }
    if (now - refusingSince < (this.#count === 0 ? replaceAfter : replaceAgainAfter) || since < this.#pause)
      return false;
    this.#replacedAt = now;
    if (++this.#count >= quick) this.#pause = Math.min(longestPause, this.#pause * 2);
    return true;
  }
}
