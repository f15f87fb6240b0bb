import type { RangeKind } from './ranges.js';
import { type Range, rangeIn } from './ranges.js';
import type { Series } from './series.js';
import type { Statistics } from './statistics.js';

/** The changes of a number: its present rate per second, and its samples if the request has a range. */
export interface Details {
  readonly rate: number;
  readonly samples?: readonly { readonly sample: number; readonly timestamp: number }[];
  readonly avg?: number;
  readonly avg_rate?: number;
}

/** Which range of the request goes with a number; the others are messages. */
const rangeKinds: Readonly<Record<string, RangeKind>> = {
  messages: 'lengths',
  messages_ready: 'lengths',
  messages_unacknowledged: 'lengths',
  recv_oct: 'data_rates',
  send_oct: 'data_rates',
};

/** The numbers of objects at one moment, with rates and pasts as one request asks for them. */
export class Measures {
  readonly #statistics: Statistics;
  readonly #query: URLSearchParams;
  readonly #now: number;
  /** The columns of a row ask one after the other. */
  #last: { readonly item: object; readonly series: unknown; readonly measure: Measure } | undefined;
  readonly #ranges = new Map<RangeKind, Range | undefined>();

  constructor(statistics: Statistics, query: URLSearchParams, now: number) {
    this.#statistics = statistics;
    this.#query = query;
    this.#now = now;
  }

  /** Of one object. */
  of<T extends object>(item: T, series: Series<T>): Measure {
    if (this.#last?.item === item && this.#last.series === series) return this.#last.measure;
    const measure = this.sum([item], series);
    this.#last = { item, series, measure };
    return measure;
  }

  /** Of several objects together. */
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
   * Since when nothing has happened to an object, as samples and this moment know.
   * @returns milliseconds since 1970, or undefined when something has of late
   */
  idleSince<T extends object>(item: T, series: Series<T>): number | undefined {
    const history = this.#statistics.history(item);
    const since = history?.lastChange;
    if (history === undefined || since === undefined) return undefined;
    const last = history.at(since) ?? [];
    const isSame = series.read(item).every((value, index) => value === last[index]);
    return isSame ? this.idle(since) : undefined;
  }

  /** A moment's rest is not called idle. */
  idle(since: number): number | undefined {
    return this.#now - since >= 1000 ? since : undefined;
  }

  /** Of a number that is 0 for ever. */
  unchanging(kind: RangeKind): Details {
    const range = this.#range(kind);
    return range === undefined ? { rate: 0 } : { ...pastOf(range, () => 0), rate: 0 };
  }

  #range(kind: RangeKind): Range | undefined {
    if (!this.#ranges.has(kind)) this.#ranges.set(kind, rangeIn(this.#query, kind, this.#now));
    return this.#ranges.get(kind);
  }
}

/** Numbers of one object, or of several together. */
export interface Measure {
  value(name: string): number;
  details(name: string): Details;
}

/** Each number and its `_details`, as answers have them. */
export function withDetails(measure: Measure, names: readonly string[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const name of names) {
    row[name] = measure.value(name);
    row[`${name}_details`] = measure.details(name);
  }
  return row;
}

/** Those groups of numbers of which at least one is not 0; undefined when there is none. */
export function happened(measure: Measure, groups: readonly (readonly string[])[]): object | undefined {
  const row: Record<string, unknown> = {};
  for (const names of groups) {
    if (names.some((name) => measure.value(name) !== 0)) Object.assign(row, withDetails(measure, names));
  }
  return Object.keys(row).length === 0 ? undefined : row;
}

/** Newest first. */
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
