const size = { width: 72, height: 20 };

/** The room above and below the line, so that its stroke is not cut. */
const margin = 2;

/**
 * A small line without axes. It begins at 0, and missing values at its beginning are left out.
 * @param label says what it shows, for screen readers
 */
export function Sparkline({ of, label }: { of: readonly (number | null)[]; label: string }) {
  const points = pointsOf(of);
  if (points === undefined) return null;
  return (
    <svg class="sparkline" viewBox={`0 0 ${size.width} ${size.height}`} role="img" aria-label={label}>
      <path
        class="sparkline-area"
        d={`M${points[0]?.x ?? 0} ${size.height} ${line(points)} L${size.width} ${size.height} Z`}
      />
      <path class="sparkline-line" d={`M${line(points).slice(1)}`} />
    </svg>
  );
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const line = (points: readonly Point[]): string => points.map(({ x, y }) => `L${x} ${y}`).join(' ');

/** Undefined if nothing was ever there. */
export function pointsOf(values: readonly (number | null)[]): readonly Point[] | undefined {
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  if (most === 0 || values.length < 2) return undefined;
  const across = size.width / (values.length - 1);
  const up = size.height - 2 * margin;
  return values.flatMap((value, index) =>
    value === null ? [] : [{ x: round(index * across), y: round(size.height - margin - (value / most) * up) }],
  );
}

const round = (value: number): number => Math.round(value * 10) / 10;
