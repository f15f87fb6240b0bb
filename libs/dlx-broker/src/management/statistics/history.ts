/** What was counted at one time. */
interface Sample {
  readonly time: number;
  readonly values: readonly number[];
}

/** How long every sample is kept; after that one a minute. */
const dense = 600_000;
const sparse = 60_000;

/** Samples of one object, oldest first: one is kept only when something had changed. Before the first all was nothing. */
export class History {
  #samples: Sample[] = [];

  get length(): number {
    return this.#samples.length;
  }

  add(time: number, values: readonly number[]): void {
    const last = this.#samples.at(-1);
    if (last === undefined || last.values.some((value, index) => value !== values[index])) {
      this.#samples.push({ time, values });
    }
  }

  /** When something last changed, as far as samples know. */
  get lastChange(): number | undefined {
    return this.#samples.at(-1)?.time;
  }

  /** The values that held at a time; undefined is before the first sample. */
  at(time: number): readonly number[] | undefined {
    for (let index = this.#samples.length - 1; index >= 0; index--) {
      const sample = this.#samples[index] as Sample;
      if (sample.time <= time) return sample.values;
    }
    return undefined;
  }

  /** Forgets what is older than `age`, but for what still holds then, and thins what is old. */
  trim(now: number, age: number): void {
    const samples = this.#samples;
    this.#samples = samples.filter(({ time }, index) => {
      const next = samples[index + 1];
      if (next === undefined) return true;
      if (next.time <= now - age) return false;
      return time > now - dense || Math.floor(time / sparse) !== Math.floor(next.time / sparse);
    });
  }
}
