import { Problem } from '../http/reply.js';

/** The most searches and dry runs: in all, and of one user. */
const most = { all: 16, ofUser: 4 };

/** The running searches: browsing, grouping, discarding by a filter, dry runs of redrives. */
export class Searches {
  /** The number of running searches by user. A user without a search has no entry. */
  readonly #running = new Map<string, number>();
  #count = 0;

  /** @param what is counted, for the refusal */
  constructor(readonly what = 'searches') {}

  get count(): number {
    return this.#count;
  }

  /**
   * Runs a search. The search has to end when its client has gone.
   * @throws Problem 429 when too many searches run
   */
  async run<T>(user: string, search: () => Promise<T>): Promise<T> {
    const ended = this.begin(user);
    try {
      return await search();
    } finally {
      ended();
    }
  }

  /**
   * Counts a search that begins, and has to end when its client has gone.
   * @returns a function to call once when the search has ended
   * @throws Problem 429 when too many searches run
   */
  begin(user: string): () => void {
    const ofUser = this.#running.get(user) ?? 0;
    if (this.#count >= most.all || ofUser >= most.ofUser) {
      throw new Problem(429, 'too_many_requests', `${ofUser} ${this.what} of this user and ${this.#count} in all run`, {
        'retry-after': '1',
      });
    }
    this.#running.set(user, ofUser + 1);
    this.#count++;
    return () => {
      this.#count--;
      const left = (this.#running.get(user) ?? 1) - 1;
      if (left === 0) this.#running.delete(user);
      else this.#running.set(user, left);
    };
  }
}
