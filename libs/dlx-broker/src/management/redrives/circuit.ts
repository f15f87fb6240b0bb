/** When a redrive stops itself. */
export interface CircuitSettings {
  /** Of what was redriven, so many per cent may come back dead. */
  readonly percent: number;
  /** The circuit decides only after so many redriven messages. */
  readonly atLeast: number;
}

export const usualCircuit: CircuitSettings = { percent: 50, atLeast: 20 };

/** Seconds that count: a cause that is gone is forgotten, and one that is new is seen among millions that went well. */
const windowSeconds = 60;

/** Counts by second what was redriven and what came back dead. */
export class Circuit {
  readonly #redriven = new Uint32Array(windowSeconds);
  readonly #back = new Uint32Array(windowSeconds);
  /** The second the counts go up to. */
  #second = 0;

  constructor(readonly settings: CircuitSettings) {}

  redriven(now: number, count = 1): void {
    this.#redriven[this.#slot(now)]! += count;
  }

  cameBack(now: number, count: number): void {
    this.#back[this.#slot(now)]! += count;
  }

  /** Whether more comes back than may. */
  isOpen(now: number): boolean {
    this.#slot(now);
    const redriven = sum(this.#redriven);
    return redriven >= this.settings.atLeast && sum(this.#back) * 100 > redriven * this.settings.percent;
  }

  /** An operator takes the risk once more. */
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
