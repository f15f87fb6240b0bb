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
  rested(since: number, now: number): void {
    this.#due = now + Math.max(0, this.#due - since);
  }
}
