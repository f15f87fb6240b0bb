import { badRequest, type Problem } from '../http/reply.js';
import type { Series } from './series.js';
import type { Statistics } from './statistics.js';

/** A requested range of time: its length and the interval of its samples, in milliseconds. */
interface Range {
  readonly first: number;
  readonly last: number;
  readonly step: number;
}

/** The kinds of ranges, each with parameters of its own: `lengths_age` and `lengths_incr` for the lengths of queues, and so on. */
type RangeKind = 'lengths' | 'msg_rates' | 'data_rates' | 'node_stats';

const mostSamples = 500;

/**
 * The range of a kind that a request asks for; undefined without its parameters.
 * @throws Problem 400 for an invalid range
 */
function rangeIn(query: URLSearchParams, kind: RangeKind, now: number): Range | undefined {
  const age = integer(query.get(`${kind}_age`));
  const step = integer(query.get(`${kind}_incr`));
  if (age === undefined || step === undefined) return undefined;
  if (age <= 0 || step <= 0 || Math.floor(age / step) > mostSamples) throw invalid(age, step);
  const last = Math.floor(now / (step * 1000)) * step * 1000;
  return { first: last - age * 1000, last, step: step * 1000 };
}

/** A parameter that is no number counts as missing. */
const integer = (text: string | null): number | undefined =>
  text !== null && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;

const invalid = (age: number, step: number): Problem =>
  badRequest(`Invalid range parameters: age ${age}, incr ${step}`);

/** The changes of a number: its present rate per second, and its samples if the request has a range. */
interface Details {
  readonly rate: number;
  readonly samples?: readonly { readonly sample: number; readonly timestamp: number }[];
  readonly avg?: number;
  readonly avg_rate?: number;
}

/** The kind of range of each number; all others have the range of messages. */
const rangeKinds: Readonly<Record<string, RangeKind>> = {
  messages: 'lengths',
  messages_ready: 'lengths',
  messages_unacknowledged: 'lengths',
  recv_oct: 'data_rates',
  send_oct: 'data_rates',
};

/** The numbers of objects at one moment, with the rates and samples for one request. */
export class Measures {
  readonly #statistics: Statistics;
  readonly #query: URLSearchParams;
  readonly #now: number;
  /** The last measure: the columns of a row ask for the same one in succession. */
  #last: { readonly item: object; readonly series: unknown; readonly measure: Measure } | undefined;
  readonly #ranges = new Map<RangeKind, Range | undefined>();

  constructor(statistics: Statistics, query: URLSearchParams, now: number) {
    this.#statistics = statistics;
    this.#query = query;
    this.#now = now;
  }

  /** The numbers of one object. */
  of<T extends object>(item: T, series: Series<T>): Measure {
    if (this.#last?.item === item && this.#last.series === series) return this.#last.measure;
    const measure = this.sum([item], series);
    this.#last = { item, series, measure };
    return measure;
  }

  /** The present rate per second of one number of an object: that of its details, without anything else being read. */
  rate<T extends object>(item: T, series: Series<T>, name: string): number {
    const { windowStart } = this.#statistics;
    const seconds = (this.#now - windowStart) / 1000;
    if (seconds <= 0) return 0;
    const index = series.names.indexOf(name);
    const before = this.#statistics.history(item)?.at(windowStart)?.[index] ?? 0;
    const count = series.readOne?.(item, index) ?? series.read(item)[index] ?? 0;
    return rounded((count - before) / seconds);
  }

  /** The sums over several objects. */
  sum<T extends object>(items: readonly T[], series: Series<T>): Measure {
    const { windowStart } = this.#statistics;
    const seconds = (this.#now - windowStart) / 1000;
    const { names } = series;
    const values = summed(
      items.map((item) => series.read(item)),
      names.length,
    );
    const past = (time: number): readonly number[] =>
      summed(
        items.map((item) => this.#statistics.history(item)?.at(time) ?? []),
        names.length,
      );
    let before: readonly number[] | undefined;
    return {
      value: (name) => values[names.indexOf(name)] ?? 0,
      details: (name) => {
        const index = names.indexOf(name);
        before ??= past(windowStart);
        const change = (values[index] ?? 0) - (before[index] ?? 0);
        const rate = seconds > 0 ? rounded(change / seconds) : 0;
        const range = this.#range(rangeKinds[name] ?? 'msg_rates');
        return range === undefined ? { rate } : { ...pastOf(range, (time) => past(time)[index] ?? 0), rate };
      },
    };
  }

  /**
   * The time since which the counts of an object have not changed.
   * @returns milliseconds since 1970; undefined if a count has changed in the last second, or since the last sample
   */
  idleSince<T extends object>(item: T, series: Series<T>): number | undefined {
    const history = this.#statistics.history(item);
    const since = history?.lastChange;
    if (history === undefined || since === undefined) return undefined;
    const last = history.at(since) ?? [];
    const isSame = series.read(item).every((value, index) => value === last[index]);
    return isSame ? this.idle(since) : undefined;
  }

  /** A rest of less than a second does not count as idle. */
  idle(since: number): number | undefined {
    return this.#now - since >= 1000 ? since : undefined;
  }

  /** The details of a number that is always 0. */
  unchanging(kind: RangeKind): Details {
    const range = this.#range(kind);
    return range === undefined ? { rate: 0 } : { ...pastOf(range, () => 0), rate: 0 };
  }

  #range(kind: RangeKind): Range | undefined {
    if (!this.#ranges.has(kind)) this.#ranges.set(kind, rangeIn(this.#query, kind, this.#now));
    return this.#ranges.get(kind);
  }
}

/** The numbers of one object, or the sums over several. */
export interface Measure {
  value(name: string): number;
  details(name: string): Details;
}

/** Each number, and its rate and samples as `_details`. */
export function withDetails(measure: Measure, names: readonly string[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const name of names) {
    row[name] = measure.value(name);
    row[`${name}_details`] = measure.details(name);
  }
  return row;
}

/** The numbers of each group in which some number is not 0; undefined if there is no such group. */
export function happened(measure: Measure, groups: readonly (readonly string[])[]): object | undefined {
  const row: Record<string, unknown> = {};
  for (const names of groups) {
    if (names.some((name) => measure.value(name) !== 0)) Object.assign(row, withDetails(measure, names));
  }
  return Object.keys(row).length === 0 ? undefined : row;
}

/** Samples over a range, newest first, and their averages. */
function pastOf({ first, last, step }: Range, valueAt: (time: number) => number): Omit<Details, 'rate'> {
  const samples = [];
  for (let timestamp = last; timestamp >= first; timestamp -= step) {
    samples.push({ sample: valueAt(timestamp), timestamp });
  }
  const [newest, oldest] = [samples[0]?.sample ?? 0, samples.at(-1)?.sample ?? 0];
  const seconds = (last - first) / 1000;
  const total = samples.reduce((sum, { sample }) => sum + sample, 0);
  return { samples, avg: total / samples.length, avg_rate: seconds === 0 ? 0 : (newest - oldest) / seconds };
}

const rounded = (rate: number): number => Math.round(rate * 1000) / 1000;

function summed(all: readonly (readonly number[])[], length: number): readonly number[] {
  if (all.length === 1) return all[0] as readonly number[];
  const sums = new Array<number>(length).fill(0);
  for (const values of all) for (const [index, value] of values.entries()) sums[index]! += value;
  return sums;
}
