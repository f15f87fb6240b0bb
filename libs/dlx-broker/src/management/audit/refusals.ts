/** Refused requests on record in a span of time, and how long that is in milliseconds. */
const most = { ofUser: 20, all: 200, span: 60_000 };

/** Lets so many refused requests on record: a user who is refused again and again does not push out what others did. */
export class Refusals {
  #since = -Infinity;
  #count = 0;
  #left = 0;
  readonly #byUser = new Map<string, number>();

  /** @returns how many had no place since the last that had one; undefined when this one has none */
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
