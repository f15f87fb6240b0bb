/** What a look found for one rule of one queue. */
export interface Measured {
  readonly value: number;
  /** True if only a part was seen, so that the real value may be higher. */
  readonly isPart?: boolean;
}

/** An alert ends only at this part of its limit, or below it. */
const calmPart = 0.8;

/** One alert: it is raised at its limit, and cleared after a time at 80 % of the limit or below. */
export class Alarm {
  isRaised = false;
  /** Since when the value is low. Undefined while it is not, and while it is unknown. */
  #calmSince: number | undefined;

  /** @param clearAfter milliseconds for which the value has to be low */
  constructor(
    readonly limit: number,
    private readonly clearAfter: number,
  ) {}

  /**
   * @param measured undefined if it is unknown: then nothing changes, and a low value has to last for its time again
   * @returns what changed
   */
  judge(measured: Measured | undefined, now: number): 'raised' | 'cleared' | undefined {
    if (measured !== undefined && measured.value >= this.limit) {
      this.#calmSince = undefined;
      if (this.isRaised) return undefined;
      this.isRaised = true;
      return 'raised';
    }
    const isLow = measured !== undefined && measured.isPart !== true && measured.value <= this.limit * calmPart;
    if (!this.isRaised || !isLow) {
      this.#calmSince = undefined;
      return undefined;
    }
    // A clock that was set back must not hold an alert for longer than the time.
    this.#calmSince = Math.min(this.#calmSince ?? now, now);
    if (now - this.#calmSince < this.clearAfter) return undefined;
    this.isRaised = false;
    this.#calmSince = undefined;
    return 'cleared';
  }
}
