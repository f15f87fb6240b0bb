import type { Claim, IdempotencyStore } from './store.js';

interface Known {
  readonly isDone: boolean;
  /** The owner of the claim. */
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** The number of claims between two removals of expired keys. */
const tidyEvery = 1_000;

/**
 * A store in this process: sufficient if only one process consumes the queues. Its keys are lost with
 * the process.
 */
export class MemoryIdempotencyStore implements IdempotencyStore {
  readonly #known = new Map<string, Known>();
  #claims = 0;

  /** @param now milliseconds since 1970; a test may give another clock */
  constructor(private readonly now: () => number = Date.now) {}

  /** How many keys it remembers. */
  get size(): number {
    return this.#known.size;
  }

  claim(key: string, lease: number, owner = ''): Claim {
    if (++this.#claims % tidyEvery === 0) this.#tidy();
    const known = this.#known.get(key);
    const now = this.now();
    if (known !== undefined && now < known.until) return known.isDone ? 'done' : 'busy';
    this.#known.set(key, { isDone: false, owner, until: now + lease });
    return 'claimed';
  }

  done(key: string, ttl: number): void {
    this.#known.set(key, { isDone: true, owner: '', until: this.now() + ttl });
  }

  release(key: string, owner = ''): void {
    const known = this.#known.get(key);
    if (known !== undefined && !known.isDone && known.owner === owner) this.#known.delete(key);
  }

  #tidy(): void {
    const now = this.now();
    for (const [key, { until }] of this.#known) if (now >= until) this.#known.delete(key);
  }
}
