/** The counts of one time. */
interface Sample {
  readonly time: number;
  readonly values: readonly number[];
}

/** For how long all samples are kept, in milliseconds. Of older samples one a minute is kept. */
const dense = 600_000;
const sparse = 60_000;

/**
 * The samples of one object, oldest first. A sample is kept only if a count has changed. Before the first sample all
 * counts are 0.
 */
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

  /** The time of the last sample, and so of the last known change. */
  get lastChange(): number | undefined {
    return this.#samples.at(-1)?.time;
  }

  /** The counts at a time; undefined before the first sample. */
  at(time: number): readonly number[] | undefined {
    for (let index = this.#samples.length - 1; index >= 0; index--) {
      const sample = this.#samples[index] as Sample;
      if (sample.time <= time) return sample.values;
    }
    return undefined;
  }

  /** The counts at a time, or those of the first sample if it is later; undefined without samples. */
  atOrFirst(time: number): readonly number[] | undefined {
    return this.at(time) ?? this.#samples[0]?.values;
  }

  /** Removes samples older than `age`, except the one whose counts still held then, and thins out old samples. */
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
