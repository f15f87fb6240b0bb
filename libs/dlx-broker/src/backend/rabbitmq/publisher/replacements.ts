/**
 * Milliseconds of nacks after which a channel is replaced. A channel that was opened while the leader of a queue was down may never
 * recover.
 */
const replaceAfter = 1_000;

/** The longest pause between two replacements for nacks, in milliseconds. The pause begins with `replaceAfter` and doubles. */
const longestPause = 16_000;

/** Decides how often a channel that only refuses is replaced. */
export class Replacements {
  #pause = replaceAfter;
  #replacedAt = -Infinity;

  /**
   * Counts a replacement if it is due.
   * @param refusingSince the time of the first nack of the channel, in milliseconds since 1970
   */
  isDue(refusingSince: number, now: number): boolean {
    if (now - refusingSince < replaceAfter) return false;
    const since = now - this.#replacedAt;
    if (since > 2 * longestPause) this.#pause = replaceAfter;
    if (since < this.#pause) return false;
    this.#replacedAt = now;
    this.#pause = Math.min(longestPause, this.#pause * 2);
    return true;
  }
}
