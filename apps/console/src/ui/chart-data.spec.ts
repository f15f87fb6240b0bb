import { describe, expect, it } from 'vitest';
import { type ChartSeries, drawnRows, latest } from './chart-data';

const series = (name: string, values: (number | null)[], kind: 'line' | 'stack'): ChartSeries => ({
  name,
  color: '--other',
  values,
  kind,
});

describe('rows of a chart', () => {
  it('stacks bars, the highest first, and draws lines over them', () => {
    const rows = drawnRows([
      series('low', [1, 2], 'stack'),
      series('line', [9, 9], 'line'),
      series('high', [3, 0], 'stack'),
    ]);
    expect(rows).toEqual([
      { of: 2, values: [4, 2] },
      { of: 0, values: [1, 2] },
      { of: 1, values: [9, 9] },
    ]);
  });

  it('leaves out a time of which no bar knows anything', () => {
    expect(drawnRows([series('a', [null, null], 'stack'), series('b', [null, 1], 'stack')])).toEqual([
      { of: 1, values: [null, 1] },
      { of: 0, values: [null, null] },
    ]);
  });

  it('finds the last known value', () => {
    expect(latest(series('a', [1, 2, null], 'line'))).toBe(2);
    expect(latest(series('a', [null], 'line'))).toBeNull();
  });
});
