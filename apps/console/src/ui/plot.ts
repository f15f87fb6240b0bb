import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type ChartSeries, drawnRows } from './chart-data';
import { colorsOf } from './colors';

/** A chart that is drawn into an element. */
export interface Plot {
  /** Shows newer values of the same series. `times` are milliseconds since 1970. */
  readonly update: (times: readonly number[], series: readonly ChartSeries[]) => void;
  readonly destroy: () => void;
}

/** What a chart needs to know beside its values. */
export interface PlotOptions {
  readonly height: number;
  /** Values of the left axis as text. */
  readonly format: (value: number) => string;
  /** Called with the index of the time below the pointer, null for none. */
  readonly point: (index: number | null) => void;
}

const gapBelow = 22;

/** Draws a chart with the colours of the present theme. The chart follows the width of the element. */
export function plot(
  element: HTMLElement,
  times: readonly number[],
  series: readonly ChartSeries[],
  options: PlotOptions,
): Plot {
  const [grid = '', text = ''] = colorsOf(['--line', '--muted']);
  const colors = colorsOf(series.map(({ color }) => color));
  const font = `11px ${getComputedStyle(element).fontFamily}`;
  const bars = uPlot.paths.bars?.({ size: [0.72, 14], align: 0 });
  const rows = drawnRows(series);
  // Bars stand in the middle of their time, so the first and the last one need room.
  const half = series.some(({ kind }) => kind === 'stack') ? ((times[1] ?? 0) - (times[0] ?? 0)) / 2000 : 0;
  const axis = { stroke: text, font, ticks: { show: false }, gap: 6 };
  const chart = new uPlot(
    {
      width: Math.max(element.clientWidth, 100),
      height: options.height,
      padding: [10, 6, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      scales: {
        x: { time: true, range: (_, from, to) => [from - half, to + half] },
        y: { range: (_, __, most) => [0, roundUp(most)] },
      },
      axes: [
        {
          ...axis,
          size: gapBelow,
          grid: { show: false },
          space: 64,
          incrs: steps,
          values: (_, splits) => splits.map(clock),
        },
        {
          ...axis,
          size: widthOfLabels,
          space: 36,
          grid: { stroke: grid, width: 1 },
          values: (_, splits) => splits.map(options.format),
        },
      ],
      series: [
        {},
        ...rows.map(({ of }) => {
          const color = colors[of] ?? text;
          return series[of]?.kind === 'stack' && bars !== undefined
            ? { paths: bars, fill: color, width: 0, points: { show: false } }
            : { stroke: color, width: 2, points: { show: false }, spanGaps: true };
        }),
      ],
      hooks: { setCursor: [({ cursor }) => options.point(cursor.idx ?? null)] },
    },
    aligned(times, series),
    element,
  );
  const sizes = new ResizeObserver(() => {
    if (element.clientWidth > 0) chart.setSize({ width: element.clientWidth, height: options.height });
  });
  sizes.observe(element);
  return {
    update: (newTimes, newSeries) => chart.setData(aligned(newTimes, newSeries)),
    destroy: () => {
      sizes.disconnect();
      chart.destroy();
    },
  };
}

const aligned = (times: readonly number[], series: readonly ChartSeries[]): uPlot.AlignedData => [
  times.map((time) => time / 1000),
  ...drawnRows(series).map(({ values }) => [...values]),
];

/** Seconds between the times below the chart. */
const steps = [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400];

/** The top of the axis: a little above the highest value, and never so low that noise fills the chart. */
const roundUp = (most: number | null): number => Math.max(1, (most ?? 0) * 1.1);

const widthOfLabels = (_: uPlot, labels: string[] | null): number =>
  Math.max(28, ...(labels ?? []).map((label) => label.length * 7 + 12));

const clock = (seconds: number): string => {
  const text = new Date(seconds * 1000).toLocaleTimeString('sv-SE');
  return text.endsWith(':00') ? text.slice(0, 5) : text;
};
