import type { Histogram } from '../../engine/broker/index.js';

type MetricType = 'counter' | 'gauge' | 'histogram' | 'untyped';

/** All series of one name. */
export interface Family {
  /** As Prometheus has it: `rabbitmq_queues`. A counter ends with `_total`. */
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
  /** The names of the labels, in the order of the values of each series. */
  readonly labels: readonly string[];
}

/** One series of a family: the values of its labels, and its own value. */
export interface Series {
  readonly labels: readonly string[];
  readonly value: number | Histogram;
}

/** A family that is read from something of type T. */
export interface Metric<T> extends Family {
  read(from: T): Iterable<Series>;
}

const noLabels: readonly string[] = [];

/** A metric with one series, without labels. */
export const single = <T>(
  name: string,
  type: MetricType,
  help: string,
  read: (from: T) => number | Histogram,
): Metric<T> => ({ name, type, help, labels: noLabels, read: (from) => [{ labels: noLabels, value: read(from) }] });

/** A metric with labels. */
export const labelled = <T>(
  name: string,
  type: MetricType,
  labels: readonly string[],
  help: string,
  read: (from: T) => Iterable<Series>,
): Metric<T> => ({ name, type, help, labels, read });

/** The type of Prometheus' text format. */
export const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Writes a metric in Prometheus' text format 0.0.4. Yields the lines of one series at a time. A metric without series is not written.
 */
export function* textOf<T>(metric: Metric<T>, from: T): Generator<string, void, void> {
  let isBegun = false;
  for (const series of metric.read(from)) {
    if (!isBegun) yield head(metric);
    isBegun = true;
    yield linesOf(metric, series);
  }
}

const head = ({ name, type, help }: Family): string =>
  `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`;

function linesOf({ name, labels: names }: Family, { labels, value }: Series): string {
  const pairs = names.map((label, place) => `${label}="${escaped(labels[place] ?? '')}"`).join(',');
  if (typeof value === 'number') return `${name}${pairs === '' ? '' : `{${pairs}}`} ${textOfNumber(value)}\n`;
  let lines = '';
  for (const { suffix, le, count } of pointsOf(value)) {
    const bound = le === undefined ? '' : `le="${le}"`;
    const all = pairs === '' || bound === '' ? pairs + bound : `${pairs},${bound}`;
    lines += `${name}${suffix}${all === '' ? '' : `{${all}}`} ${textOfNumber(count)}\n`;
  }
  return lines;
}

/** A number of a histogram. */
export interface Point {
  readonly suffix: '_bucket' | '_sum' | '_count';
  /** The upper bound of a bucket, as text. */
  readonly le?: string;
  readonly count: number;
}

/** The numbers of a histogram: in Prometheus each bucket has all values up to its bound. */
export function* pointsOf({ bounds, counts, sum }: Histogram): Generator<Point, void, void> {
  let count = 0;
  for (const [place, bound] of bounds.entries()) {
    count += counts[place] as number;
    yield { suffix: '_bucket', le: boundText(bound), count };
  }
  count += counts[bounds.length] as number;
  yield { suffix: '_bucket', le: '+Inf', count };
  yield { suffix: '_count', count };
  yield { suffix: '_sum', count: sum };
}

/** A bound as RabbitMQ writes it, because panels compare the text: `100.0`, `1e+06`. */
export function boundText(bound: number): string {
  if (bound >= 1_000_000) return bound.toExponential().replace(/e\+(\d)$/, 'e+0$1');
  return Number.isInteger(bound) ? bound.toFixed(1) : String(bound);
}

const special = /[\\"\n]/;

/** The value of a label, as it is written between quotes. */
export const escaped = (value: string): string =>
  special.test(value) ? value.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`)) : value;

export function textOfNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
