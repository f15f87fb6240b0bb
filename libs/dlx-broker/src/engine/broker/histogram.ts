/** Counts values by size. A value costs a short search and two additions; nothing is allocated. */
export class Histogram {
  /** The counts of the values up to each bound and above the one before it, and of the values above the last bound. */
  readonly counts: number[];
  /** The sum of all values. */
  sum = 0;

  /** @param bounds the upper bounds, ascending; a value that equals a bound is within it */
  constructor(readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  /** The number of all values. */
  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  record(value: number): void {
    const { bounds, counts } = this;
    let place = 0;
    while (place < bounds.length && value > (bounds[place] as number)) place++;
    counts[place] = (counts[place] as number) + 1;
    this.sum += value;
  }

  /** Adds the values of another one with the same bounds. */
  add(other: Histogram): void {
    for (const [place, count] of other.counts.entries()) this.counts[place] = (this.counts[place] as number) + count;
    this.sum += other.sum;
  }
}
