/**
 * Milliseconds of nacks after which a channel is replaced. A channel that was opened while the leader of a queue was down may never
 * recover.
 */
const replaceAfter = 1_000;

/** The next channel may have been opened too early as well: so many replacements follow one another without a further pause. */
const quick = 3;

/** The longest pause between two replacements for nacks, in milliseconds. The pause begins with `replaceAfter` and doubles. */
const longestPause = 16_000;

/** Half the time without a replacement after which channels may be replaced quickly again, in milliseconds. */
const calm = 5_000;

/** Decides how often a channel that only refuses is replaced. */
export class Replacements {
  #pause = replaceAfter;
  #count = 0;
  #replacedAt = -Infinity;

  /**
   * Counts a replacement if it is due.
   * @param refusingSince the time of the first nack of the channel, in milliseconds since 1970
   */
  isDue(refusingSince: number, now: number): boolean {
    if (now - refusingSince < replaceAfter) return false;
    const since = now - this.#replacedAt;
    if (since < this.#pause) return false;
    // Twice the pause without a replacement: the trouble was over meanwhile, and this is another one.
    if (since > 2 * Math.max(this.#pause, calm)) {
      this.#pause = replaceAfter;
      this.#count = 0;
    }
    this.#replacedAt = now;
    if (++this.#count >= quick) this.#pause = Math.min(longestPause, this.#pause * 2);
    return true;
  }
}
