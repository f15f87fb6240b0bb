/** Milliseconds between two ticks, at least: what is due meanwhile goes together. */
const shortestTick = 10;

/** Of what was not used, so much of a second's worth is kept: a host that was busy is not followed by a flood. */
const keptOfSecond = 0.1;

/** How many messages may go at which time. */
export class Pacing {
  #saved = 1;
  #since: number;

  /** @param rate messages a second; Infinity is as many as the host can */
  constructor(
    readonly rate: number,
    now: number,
  ) {
    this.#since = now;
  }

  /** Messages that may go now. */
  allowed(now: number): number {
    if (this.rate === Infinity) return Infinity;
    const saved = this.#saved + (Math.max(0, now - this.#since) * this.rate) / 1000;
    this.#since = now;
    this.#saved = Math.min(saved, Math.max(1, this.rate * keptOfSecond));
    return Math.floor(this.#saved + 1e-9);
  }

  spend(count: number): void {
    if (this.rate !== Infinity) this.#saved -= count;
  }

  /** When to look again. */
  next(now: number): number {
    if (this.rate === Infinity) return now;
    const missing = Math.max(0, 1 - this.#saved);
    return now + Math.max(shortestTick, Math.ceil((missing * 1000) / this.rate - 1e-6));
  }

  /** After a pause: nothing was saved in it. */
  restart(now: number): void {
    this.#since = now;
    this.#saved = Math.min(this.#saved, 1);
  }
}
