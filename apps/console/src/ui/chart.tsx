import { useEffect, useRef, useState } from 'preact/hooks';
import { type ChartSeries, latest } from './chart-data';
import { useThemeRound } from './colors';
import type { Plot } from './plot';
import './chart.css';

/** A chart over time, with a legend that shows the values below the pointer or the latest ones, and a table in its place. */
export function Chart(props: {
  label: string;
  /** Milliseconds since 1970, one for each value. */
  times: readonly number[];
  series: readonly ChartSeries[];
  /** What the values are, such as `messages per second`. */
  unit: string;
  format: (value: number) => string;
  height?: number;
}) {
  const { label, times, series, unit, format, height = 190 } = props;
  const [isTable, setTable] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const time = at === null ? undefined : times[at];
  const valueOf = (of: ChartSeries): number | null => (time === undefined ? latest(of) : (of.values[at ?? 0] ?? null));
  return (
    <div class="chart">
      <div class="chart-head">
        <ul class="legend" aria-label={`${label}: latest values, ${unit}`}>
          {series.map((each) => (
            <li key={each.name}>
              <i
                class={each.kind === 'stack' ? 'swatch' : 'swatch swatch-line'}
                style={{ background: `var(${each.color})` }}
              />
              {each.name} <b>{shown(valueOf(each), format)}</b>
            </li>
          ))}
        </ul>
        <span class="chart-side">
          <span class="muted" aria-hidden="true">
            {time === undefined ? unit : clock(time)}
          </span>
          <button type="button" class="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
            Table
          </button>
        </span>
      </div>
      {isTable ? (
        <ValueTable label={label} times={times} series={series} format={format} />
      ) : (
        <Canvas
          label={`${label}, ${unit}`}
          times={times}
          series={series}
          format={format}
          height={height}
          point={setAt}
        />
      )}
    </div>
  );
}

const shown = (value: number | null, format: (value: number) => string): string =>
  value === null ? '–' : format(value);

const clock = (time: number): string => new Date(time).toLocaleTimeString('sv-SE');

function Canvas(props: {
  label: string;
  times: readonly number[];
  series: readonly ChartSeries[];
  format: (value: number) => string;
  height: number;
  point: (index: number | null) => void;
}) {
  const { label, times, series, format, height, point } = props;
  const element = useRef<HTMLDivElement>(null);
  const drawn = useRef<Plot>(undefined);
  const [failed, setFailed] = useState(false);
  const latestData = useRef({ times, series });
  latestData.current = { times, series };
  const round = useThemeRound();
  const shape = series.map(({ name, color, kind }) => `${name} ${color} ${kind}`).join();

  useEffect(() => {
    let isShown = true;
    import('./plot').then(
      ({ plot }) => {
        if (!isShown || element.current === null) return;
        const { times: x, series: rows } = latestData.current;
        drawn.current = plot(element.current, x, rows, { height, format, point });
      },
      () => isShown && setFailed(true),
    );
    return () => {
      isShown = false;
      drawn.current?.destroy();
      drawn.current = undefined;
    };
  }, [round, shape, height]);
  useEffect(() => drawn.current?.update(times, series), [times, series]);

  if (failed) return <p class="muted chart-failed">The chart could not be loaded. The table has its values.</p>;
  return <div ref={element} class="plot" role="img" aria-label={label} style={{ height: `${height}px` }} />;
}

/** The values as text, the latest first. */
function ValueTable(props: {
  label: string;
  times: readonly number[];
  series: readonly ChartSeries[];
  format: (value: number) => string;
}) {
  const { label, times, series, format } = props;
  const rows = times.map((time, at) => ({ time, values: series.map(({ values }) => values[at] ?? null) })).reverse();
  return (
    <div class="table-scroll chart-table" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" class="numeric">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ time, values }) => (
            <tr key={time}>
              <td>{clock(time)}</td>
              {values.map((value, at) => (
                <td key={at} class="numeric">
                  {shown(value, format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
