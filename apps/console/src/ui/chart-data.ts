/** A line of a chart, one value for each time; null where nothing is known. `color` is the name of a CSS variable. */
export interface ChartSeries {
  readonly name: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
  /** Series of the kind `stack` are bars on top of one another; the first is at the bottom. Default: `line`. */
  readonly kind?: 'line' | 'stack';
}

/** A row that the chart draws: the index of its series, and its values. */
export interface DrawnRow {
  readonly of: number;
  readonly values: readonly (number | null)[];
}

/**
 * The rows to draw, in the order of drawing. Bars begin at zero, so each has the sum of its value and of those below it, and
 * the highest bar is drawn first. Lines come last.
 */
export function drawnRows(series: readonly ChartSeries[]): readonly DrawnRow[] {
  const bars: DrawnRow[] = [];
  let sum: (number | null)[] | undefined;
  series.forEach(({ kind, values }, of) => {
    if (kind !== 'stack') return;
    const below = sum;
    sum = values.map((value, at) => (value === null && below?.[at] == null ? null : (value ?? 0) + (below?.[at] ?? 0)));
    bars.unshift({ of, values: sum });
  });
  const lines = series.map(({ values }, of) => ({ of, values })).filter(({ of }) => series[of]?.kind !== 'stack');
  return [...bars, ...lines];
}

/** The last known value of a series. */
export const latest = ({ values }: ChartSeries): number | null => values.findLast((value) => value !== null) ?? null;
