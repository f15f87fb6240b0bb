/** The most recorded refusals in a span of time: of a user and in all; the span is in milliseconds. */
const most = { ofUser: 20, all: 200, span: 60_000 };

/** Limits the recorded refusals of a user, so that they do not displace the entries of other users. */
export class Refusals {
  #since = -Infinity;
  #count = 0;
  #left = 0;
  readonly #byUser = new Map<string, number>();

  /**
   * @returns the number of refusals that were not recorded since the last one; undefined if this one is not recorded
   */
  place(user: string, now: number): number | undefined {
    if (now - this.#since >= most.span) {
      this.#since = now;
      this.#count = 0;
      this.#byUser.clear();
    }
    const ofUser = this.#byUser.get(user) ?? 0;
    if (this.#count >= most.all || ofUser >= most.ofUser) return void this.#left++;
    this.#count++;
    this.#byUser.set(user, ofUser + 1);
    const left = this.#left;
    this.#left = 0;
    return left;
  }
}
