import { Problem } from './reply.js';

/** How much may run at a time. */
export interface ConcurrencyLimits {
  readonly ofUser: number;
  readonly all: number;
  /** Why a further one is refused. @param ofUser how many run for the user @param all how many run in all */
  readonly refusal: (ofUser: number, all: number) => string;
}

/** Counts what runs for users, such as searches, and limits it by user and in all. */
export class Concurrency {
  /** By user. A user for whom nothing runs has no entry. */
  readonly #running = new Map<string, number>();
  #count = 0;

  constructor(private readonly limits: ConcurrencyLimits) {}

  /** How many run in all. */
  get count(): number {
    return this.#count;
  }

  /**
   * Runs something that ends when its client has gone.
   * @throws Problem 429 when too much runs
   */
  async run<T>(user: string, work: () => Promise<T>): Promise<T> {
    const ended = this.begin(user);
    try {
      return await work();
    } finally {
      ended();
    }
  }

  /**
   * Counts something that begins.
   * @returns a function to call once when it has ended
   * @throws Problem 429 when too much runs
   */
  begin(user: string): () => void {
    const { ofUser, all, refusal } = this.limits;
    const ofThis = this.#running.get(user) ?? 0;
    if (this.#count >= all || ofThis >= ofUser) {
      throw new Problem(429, 'too_many_requests', refusal(ofThis, this.#count), { 'retry-after': '1' });
    }
    this.#running.set(user, ofThis + 1);
    this.#count++;
    return () => {
      this.#count--;
      const left = (this.#running.get(user) ?? 1) - 1;
      if (left === 0) this.#running.delete(user);
      else this.#running.set(user, left);
    };
  }
}
