/** Decides from what comes back dead whether a redrive may continue. */
export interface Breaker {
  /** The reason that an operator reads when the breaker opens. */
  readonly reason?: string;
  /** Milliseconds after which a stopped redrive continues by itself; undefined: an operator has to resume it. */
  readonly pause?: number;
  redriven(now: number): void;
  returned(now: number, count: number): void;
  /** True when too many messages came back. */
  isOpen(now: number): boolean;
  /** Forgets what opened the breaker, so that a stopped redrive can continue. */
  close?(): void;
}

/** When a redrive stops itself. */
export interface BreakerSettings {
  /** The percentage of the redriven messages that may come back dead. */
  readonly percent: number;
  /** The breaker never opens before this many messages were redriven. */
  readonly atLeast: number;
}

export const defaultBreaker: BreakerSettings = { percent: 50, atLeast: 20 };

/** The length of the window in seconds. Without a window, millions of older successes would hide new failures. */
const windowSeconds = 60;

/** Judges the last minute: counts, by second, the messages that were redriven and those that came back dead. */
export class WindowBreaker implements Breaker {
  readonly #redriven = new Uint32Array(windowSeconds);
  readonly #back = new Uint32Array(windowSeconds);
  /** The latest second that has a count. */
  #second = 0;

  constructor(readonly settings: BreakerSettings) {}

  get reason(): string {
    return `more than ${this.settings.percent} % of what was redriven came back dead`;
  }

  redriven(now: number): void {
    this.#redriven[this.#slot(now)]! += 1;
  }

  returned(now: number, count: number): void {
    this.#back[this.#slot(now)]! += count;
  }

  isOpen(now: number): boolean {
    this.#slot(now);
    const redriven = sum(this.#redriven);
    return redriven >= this.settings.atLeast && sum(this.#back) * 100 > redriven * this.settings.percent;
  }

  close(): void {
    this.#redriven.fill(0);
    this.#back.fill(0);
  }

  #slot(now: number): number {
    const second = Math.floor(now / 1000);
    const gone = Math.min(windowSeconds, second - this.#second);
    for (let each = 1; each <= gone; each++) {
      const slot = (this.#second + each) % windowSeconds;
      this.#redriven[slot] = 0;
      this.#back[slot] = 0;
    }
    if (gone >= windowSeconds) this.close();
    this.#second = Math.max(second, this.#second);
    return this.#second % windowSeconds;
  }
}

const sum = (counts: Uint32Array): number => counts.reduce((total, count) => total + count, 0);

/** Judges each batch by itself: the messages redriven, and the messages that came back, since the last call of `isOpen`. */
export class BatchBreaker implements Breaker {
  #redriven = 0;
  #back = 0;

  /**
   * @param share of the redriven messages, the share that may not come back
   * @param pause milliseconds after which the redrive continues by itself
   */
  constructor(
    readonly share: number,
    readonly pause: number,
  ) {}

  redriven(): void {
    this.#redriven++;
  }

  returned(_now: number, count: number): void {
    this.#back += count;
  }

  /** Each call judges a batch and forgets it. */
  isOpen(): boolean {
    const isOpen = this.#back >= this.#redriven * this.share;
    this.#redriven = 0;
    this.#back = 0;
    return isOpen;
  }
}
