/** The rate of the fastest member, in rates of the slowest. */
const spread = 100;

/** Connections that publish when they are asked to. */
export interface Publishers {
  readonly members: readonly { publish(count: number, now: number): void }[];
}

/** Every member publishes at a rate of its own, without waiting for arrivals. The rates are spread evenly over two decades. */
export class RatedLoad {
  readonly #crowd: Publishers;
  /** Messages a second of each member. */
  readonly #rates: readonly number[];
  /** Messages that each member has published since the start. */
  readonly #published: number[];
  readonly #start = performance.now();
  #isOver = false;

  /** @param total messages a second of all members together */
  constructor(crowd: Publishers, total: number) {
    const { length } = crowd.members;
    const shares = crowd.members.map((_, index) => spread ** (index / length));
    const sum = shares.reduce((all, share) => all + share, 0);
    this.#crowd = crowd;
    this.#rates = shares.map((share) => (share / sum) * total);
    this.#published = crowd.members.map(() => 0);
    this.#tick();
  }

  stop(): void {
    this.#isOver = true;
  }

  readonly #tick = (): void => {
    if (this.#isOver) return;
    const now = performance.now();
    const seconds = (now - this.#start) / 1000;
    for (const [index, member] of this.#crowd.members.entries()) {
      const rate = this.#rates[index] as number;
      const before = this.#published[index] as number;
      // The members do not begin together.
      const due = Math.floor(rate * seconds + ((index * 0.618) % 1)) - before;
      if (due === 0) continue;
      this.#published[index] = before + due;
      member.publish(due, now);
    }
    setTimeout(this.#tick, 1);
  };
}
