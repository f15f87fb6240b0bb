/** Messages a second of a redrive, unless its request names another rate. */
export const defaultRate = 50;

/** A rate limiter: each message is due one gap after the message before. */
export class Pacing {
  /** Milliseconds between two messages; 0 without a limit. */
  readonly #gap: number;
  /** The time without messages, in milliseconds, whose messages may follow together (the burst of the limiter). */
  readonly #kept: number;
  /** When the next message is due. */
  #due: number;

  /**
   * @param rate messages a second; Infinity is no limit
   * @param now when the first message is due
   * @param kept the burst: after a delay of the host, messages of this time (milliseconds) may follow together
   */
  constructor(
    readonly rate: number,
    now = 0,
    kept = 0,
  ) {
    this.#gap = 1000 / rate;
    this.#kept = Math.max(0, kept - this.#gap);
    this.#due = now;
  }

  /** Messages that may go now. Call {@link spend} with the number that went. */
  allowed(now: number): number {
    if (this.#gap === 0) return Infinity;
    this.#due = Math.max(this.#due, now - this.#kept);
    return Math.max(0, Math.floor((now - this.#due) / this.#gap + 1 + 1e-9));
  }

  spend(count: number): void {
    this.#due += count * this.#gap;
  }

  /** Spends one message. @returns when it may go: at once if that time is not in the future */
  take(now: number): number {
    const due = Math.max(this.#due, now - this.#kept);
    this.#due = due + this.#gap;
    return due;
  }

  /** When the next message is due, as whole milliseconds. */
  get next(): number {
    return Math.ceil(this.#due - 1e-6);
  }

  /** Leaves a pause out of the schedule: the time that was left until the next message is left again after the pause. */
  leaveOut(since: number, now: number): void {
    this.#due = now + Math.max(0, this.#due - since);
  }
}

/** The pause between two batches, in which messages of the first may come back dead: milliseconds. */
const pause = 1_000;

/** The highest rate, in messages a second, at which a breaker sees returning messages in time without batches. */
const fast = 1_000;

/** Limits a redrive to batches, so that its breaker can judge each batch before the next one begins. */
export class Batches {
  #size: number;
  #left: number;
  #opensAt = 0;

  /**
   * @param first messages of the first batch
   * @param pause milliseconds between two batches
   * @param growth the size of a batch as a multiple of the batch before
   */
  private constructor(
    readonly first: number,
    readonly pause: number,
    readonly growth: number,
  ) {
    this.#size = first;
    this.#left = first;
  }

  /**
   * Batches for a redrive that is faster than its messages can come back: a pause of a second after each, then twice the size.
   * @returns undefined for a rate (messages a second) that needs none
   */
  static for(rate: number, first: number): Batches | undefined {
    return rate > fast ? new Batches(first, pause, 2) : undefined;
  }

  /** Batches of one size without a pause: they only set when the breaker counts the messages that came back. */
  static steady(size: number): Batches {
    return new Batches(size, 0, 1);
  }

  /** Messages that may go now. */
  allowed(now: number): number {
    return now >= this.#opensAt ? this.#left : 0;
  }

  /** @returns true when these messages ended a batch */
  spend(count: number, now: number): boolean {
    this.#left -= count;
    if (this.#left > 0) return false;
    this.#opensAt = now + this.pause;
    this.#size *= this.growth;
    this.#left = this.#size;
    return true;
  }

  /** When messages may go again; a time in the past when they may go now. */
  get next(): number {
    return this.#opensAt;
  }

  /** Starts again with the size of the first batch. */
  restart(now: number): void {
    this.#size = this.first;
    this.#left = this.first;
    this.#opensAt = now;
  }
}
