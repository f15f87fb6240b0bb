/**
 * One number for each row of a page. A series with even steps needs no array: the same number in all rows, or a number that grows
 * by the same step.
 */
export class Series {
  private constructor(
    readonly first: number,
    readonly step: number,
    /** Undefined for even steps. */
    readonly values: Values | undefined,
  ) {}

  static of(values: Float64Array): Series {
    const first = values.length > 0 ? (values[0] as number) : 0;
    const step = values.length > 1 ? (values[1] as number) - first : 0;
    let largest = 0;
    let isWhole = true;
    let isEven = true;
    for (let row = 0; row < values.length; row++) {
      const value = values[row] as number;
      if (value !== first + step * row) isEven = false;
      if (value > largest) largest = value;
      if (value < 0 || !Number.isInteger(value)) isWhole = false;
    }
    if (isEven) return new Series(first, step, undefined);
    return new Series(0, 0, isWhole ? narrow(values, largest) : values);
  }

  at(row: number): number {
    const { values } = this;
    return values === undefined ? this.first + this.step * row : (values[row] as number);
  }
}

type Values = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** The numbers in as few bytes as the largest one needs. */
function narrow(values: Float64Array, largest: number): Values {
  if (largest <= 0xff) return Uint8Array.from(values);
  if (largest <= 0xffff) return Uint16Array.from(values);
  return largest <= 0xffff_ffff ? Uint32Array.from(values) : values;
}
